package dense

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/segment"
)

// Vector is one dense embedding.
type Vector struct {
	ID     graph.ID
	Model  string
	Values []int8
}

// sum is what the vectors of a group come to, in any order.
type sum struct {
	rows int
	hash [4]uint64
}

func (s *sum) add(row []byte) {
	h := sha256.Sum256(row)
	s.rows++
	for i := range s.hash {
		s.hash[i] += binary.LittleEndian.Uint64(h[8*i:])
	}
}

// Verify compares an index with the vectors it must have, which come in any order, and returns what
// is wrong. An error says that it could not be read to the end; it wraps store.ErrCorrupt where
// a block is damaged. It keeps some hundred bytes for each group.
func Verify(
	ctx context.Context, blocks segment.Blocks, c, of ipld.CID, vectors iter.Seq2[Vector, error],
) (wrong []string, err error) {
	x, err := Open(ctx, blocks, c, of, segment.NewCache(mergeCache))
	if err != nil {
		return nil, err
	}
	want := map[groupKey]*sum{}
	var row []byte
	for v, err := range vectors {
		if err != nil {
			return nil, err
		}
		k := groupKey{v.Model, len(v.Values)}
		if want[k] == nil {
			want[k] = new(sum)
		}
		row = appendRow(row[:0], v.ID, v.Values)
		want[k].add(row)
	}
	for kv, err := range x.groups.Scan(ctx, nil, nil) {
		if err != nil {
			return wrong, err
		}
		k, err := parseGroupKey(kv.Key)
		if err != nil {
			return wrong, err
		}
		got, err := x.sum(ctx, k)
		if err != nil {
			return wrong, fmt.Errorf("vectors of %d dimensions by %q: %w", k.dims, k.model, err)
		}
		if w := want[k]; w == nil || *w != got {
			wrong = append(wrong, fmt.Sprintf("the %d vectors of %d dimensions by %q are not those of "+
				"the commit", got.rows, k.dims, k.model))
		}
		delete(want, k)
	}
	for _, k := range sorted(want) {
		wrong = append(wrong, fmt.Sprintf("no vectors of %d dimensions by %q, should be %d", k.dims,
			k.model, want[k].rows))
	}
	return wrong, nil
}

// sum adds up the live vectors of a group, and checks what is kept of them beside.
func (x *Index) sum(ctx context.Context, k groupKey) (out sum, err error) {
	g, err := x.group(ctx, k)
	if err != nil {
		return out, err
	}
	sketch := newSketcher(k.dims)
	for n, s := range g.segs {
		ids := x.src.IDCursor(s.Segment, colIDs)
		vectors, sketches := rows{r: x.src, c: &s.cols[colVectors]}, rows{r: x.src, c: &s.cols[colSketch]}
		for i := range s.Docs {
			row, err := vectors.at(ctx, i)
			if err == nil {
				err = ctx.Err()
			}
			var id, have []byte
			if err == nil {
				id, err = ids.Peek(ctx)
			}
			if err == nil {
				have, err = sketches.at(ctx, i)
			}
			if err != nil {
				return out, fmt.Errorf("segment %s, row %d: %w", s.CID, i, err)
			}
			vector := values(row)
			norm := uint32(dot(vector, vector))
			if !bytes.Equal(id, row[:graph.IDLen]) || binary.LittleEndian.Uint32(row[graph.IDLen:]) != norm ||
				!bytes.Equal(have, sketch.bytes(vector)) {
				return out, segment.Corrupt("segment %s, row %d: id, norm or sketch is not that of its vector",
					s.CID, i)
			}
			if ids.N++; !g.dead[n].Has(uint32(i)) {
				out.add(row)
			}
		}
	}
	return out, nil
}

// appendRow appends a row of "vectors": id, norm and vector.
func appendRow(b []byte, id graph.ID, vector []int8) []byte {
	b = append(b, id[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(dot(vector, vector)))
	for _, x := range vector {
		b = append(b, byte(x))
	}
	return b
}

// values returns the vector of a row.
func values(row []byte) []int8 {
	out := make([]int8, len(row)-rowHead)
	for i, b := range row[rowHead:] {
		out[i] = int8(b)
	}
	return out
}

package dense

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Digester computes the digests of vectors. They are hashes under a random key, so no stored data can be made to match
// them. Safe for concurrent use.
type Digester struct{ seed maphash.Seed }

// NewDigester returns one with a new key.
func NewDigester() Digester { return Digester{maphash.MakeSeed()} }

// Digest stands for a vector: its dimensions, and 47 bits of a hash of its values.
type Digest uint64

// dimsBits are the bits of a Digest that have the dimensions, graph.MaxDims at most.
const dimsBits = 17

// Of returns the digest of a vector.
func (d Digester) Of(values []int8) Digest {
	b := make([]byte, 0, 1024)
	for _, x := range values {
		b = append(b, byte(x))
	}
	return Digest(maphash.Bytes(d.seed, b)<<dimsBits | uint64(len(values)))
}

func (d Digest) dims() int { return int(d & (1<<dimsBits - 1)) }

// Vector is one dense embedding, by the digest of its values.
type Vector struct {
	ID    graph.ID
	Model string
	Digest
}

// sum combines the vectors of a group, in any order.
type sum struct {
	rows int
	hash uint64
}

func (s *sum) add(d Digester, id graph.ID, digest Digest) {
	b := append(make([]byte, 0, graph.IDLen+8), id[:]...)
	s.rows++
	s.hash += maphash.Bytes(d.seed, binary.LittleEndian.AppendUint64(b, uint64(digest)))
}

// Verify compares an index with the vectors it must have, which come in any order with digests of d, and returns the
// faults. An error says that the index could not be read to the end; it wraps store.ErrCorrupt if a block is damaged.
// It keeps some hundred bytes for each group.
func Verify(
	ctx context.Context, blocks segment.Blocks, c, of ipld.CID, source Source, d Digester,
	vectors iter.Seq2[Vector, error],
) (wrong []string, err error) {
	x, err := Open(ctx, blocks, c, of, source, segment.NewCache(mergeCache))
	if err != nil {
		return nil, err
	}
	want := map[groupKey]*sum{}
	for v, err := range vectors {
		if err != nil {
			return nil, err
		}
		k := groupKey{v.Model, v.dims()}
		if want[k] == nil {
			want[k] = new(sum)
		}
		want[k].add(d, v.ID, v.Digest)
	}
	for kv, err := range x.groups.Scan(ctx, nil, nil) {
		if err != nil {
			return wrong, err
		}
		k, err := parseGroupKey(kv.Key)
		if err != nil {
			return wrong, err
		}
		got, err := x.sum(ctx, k, d)
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

// sum adds up the live vectors of a group, and checks their sketches.
func (x *Index) sum(ctx context.Context, k groupKey, d Digester) (out sum, err error) {
	g, err := x.group(ctx, k)
	if err != nil {
		return out, err
	}
	sketch := newSketcher(k.dims)
	err = x.eachBatch(ctx, g, func(batch []scanned) error {
		for _, at := range batch {
			s := g.segs[at.seg]
			sketches := sketches{r: x.src, t: s}
			for i, row := range at.page.rows {
				have, err := sketches.at(ctx, at.first+i)
				if err == nil && !g.dead[at.seg].Has(uint32(at.first+i)) {
					vector := values(row)
					if out.add(d, graph.ID(row), d.Of(vector)); !bytes.Equal(have, sketch.bytes(vector)) {
						err = segment.Corrupt("sketch is not that of the vector")
					}
				}
				if err != nil {
					return fmt.Errorf("segment %s, row %d: %w", s.CID, at.first+i, err)
				}
			}
		}
		return nil
	})
	return out, err
}

func appendRow(b []byte, id graph.ID, vector []int8) []byte {
	b = append(b, id[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(dot(vector, vector)))
	for _, x := range vector {
		b = append(b, byte(x))
	}
	return b
}

func values(row []byte) []int8 {
	out := make([]int8, len(row)-rowHead)
	for i, b := range row[rowHead:] {
		out[i] = int8(b)
	}
	return out
}

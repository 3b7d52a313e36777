package dense

import (
	"bytes"
	"context"
	"fmt"
	"sort"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	kindSegment = "vectors"
	// formatVersion is the version of every record of this package.
	formatVersion = 1
)

// Columns of a segment.
const (
	colIDs = iota
	colDead
	colSketch
	colVectors
	columns
)

var columnNames = [columns]string{"ids", "dead", "sketch", "vectors"}

// segment is the decoded block of a segment. It is immutable.
type segment struct {
	cid         ipld.CID
	dims        int
	docs, kills int
	first       []byte // first id of each part of "ids"
	cols        [columns]column
}

// newSegment returns an empty segment of vectors of some dimensions, with the widths of columns.
func newSegment(dims int) segment {
	s := segment{dims: dims}
	sketch, row := sketchBits(dims)/8, rowHead+dims
	s.cols[colIDs] = column{width: graph.IDLen, per: idsPerPart}
	s.cols[colDead] = column{width: graph.IDLen, per: idsPerPart}
	s.cols[colSketch] = column{width: sketch, per: sketchPart / sketch}
	s.cols[colVectors] = column{width: row, per: max(1, rowsPart/row)}
	return s
}

func (s *segment) encode() []byte {
	w := ipld.NewRecord(nil, nil)
	col := func(n int) { w.Append(columnNames[n], s.cols[n].append) }
	w.Version(formatVersion)
	col(colIDs)
	col(colDead)
	w.Int("dims", int64(s.dims))
	w.Int("docs", int64(s.docs))
	w.Kind(kindSegment)
	w.Bytes("first", s.first)
	w.Int("kills", int64(s.kills))
	col(colSketch)
	col(colVectors)
	return w.Finish()
}

func decodeSegment(cid ipld.CID, block []byte) (*segment, error) {
	var items [columns][]byte
	var counts [3]int64 // dims, docs, kills
	var first []byte
	seen := 0
	_, err := ipld.DecodeRecord(block, kindSegment, formatVersion,
		func(key string, d *ipld.Decoder) (known bool, err error) {
			seen++
			for i, name := range [...]string{"dims", "docs", "kills"} {
				if key == name {
					counts[i], err = decodeCount(d, maxRows)
					return true, err
				}
			}
			for i, name := range columnNames {
				if key == name {
					items[i], err = d.Item()
					return true, err
				}
			}
			if key == "first" {
				first, err = d.Bytes()
				return true, err
			}
			seen--
			return false, nil
		})
	if err == nil && seen != columns+4 {
		err = fmt.Errorf("segment of %d fields, want %d", seen, columns+4)
	}
	if err != nil {
		return nil, asDamage(err)
	}
	if counts[0] < 1 || counts[0] > graph.MaxDims {
		return nil, corrupt("segment of %d dimensions", counts[0])
	}
	s := newSegment(int(counts[0]))
	s.cid, s.docs, s.kills, s.first = cid, int(counts[1]), int(counts[2]), bytes.Clone(first)
	for i := range s.cols {
		c := &s.cols[i]
		if c.rows = s.docs; i == colDead {
			c.rows = s.kills
		}
		if err := c.decode(items[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", columnNames[i], asDamage(err))
		}
	}
	if parts := s.cols[colIDs].parts(); len(s.first) != parts*graph.IDLen {
		return nil, corrupt("%d bytes of first ids of %d parts", len(s.first), parts)
	}
	return &s, nil
}

func decodeCount(d *ipld.Decoder, high int64) (int64, error) {
	n, err := d.Int()
	if err == nil && (n < 0 || n > high) {
		err = d.Errorf("count %d outside 0 to %d", n, high)
	}
	return n, err
}

// segment reads a segment's block.
func (r *reader) segment(ctx context.Context, c ipld.CID) (*segment, error) {
	kept, _, epoch := r.cache.Get(c)
	if s, ok := kept.(*segment); ok {
		return s, nil
	}
	block, err := r.get.Get(ctx, c)
	var s *segment
	if err == nil {
		s, err = decodeSegment(c, block)
	}
	if err != nil {
		return nil, fmt.Errorf("read segment %s: %w", c, err)
	}
	r.cache.AddSince(epoch, c, s, int64(2*len(block)))
	return s, nil
}

// find returns the row of an id, -1 where the segment has none.
func (r *reader) find(ctx context.Context, s *segment, id graph.ID) (int, error) {
	parts := s.cols[colIDs].parts()
	n := sort.Search(parts, func(i int) bool {
		return bytes.Compare(s.first[i*graph.IDLen:(i+1)*graph.IDLen], id[:]) > 0
	}) - 1
	if n < 0 {
		return -1, nil
	}
	data, err := r.part(ctx, &s.cols[colIDs], n)
	if err != nil {
		return 0, err
	}
	rows := len(data) / graph.IDLen
	at := func(i int) []byte { return data[i*graph.IDLen : (i+1)*graph.IDLen] }
	i := sort.Search(rows, func(i int) bool { return bytes.Compare(at(i), id[:]) >= 0 })
	if i == rows || !bytes.Equal(at(i), id[:]) {
		return -1, nil
	}
	return n*idsPerPart + i, nil
}

package links

import (
	"encoding/binary"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// HalfEdge is one edge as seen from a node. It lacks the edge's id, which would be a third of it.
type HalfEdge struct {
	Type   string
	Other  graph.ID // the node at the other end
	Weight uint32   // 1 to graph.MaxWeight in units of 2^-16
	Marked bool     // whether the edge has a mark
}

// Bucket is a node's edges on one side.
type Bucket struct {
	Degree  int        // number of edges
	Entries []HalfEdge // all of them in key order, none if there are more than MaxEntries
}

// Whole reports whether the entries are stored.
func (b Bucket) Whole() bool { return b.Degree <= MaxEntries }

// Node is a node with both its buckets.
type Node struct {
	ID      graph.ID
	Out, In Bucket
}

// An entry begins with the number of its type and these flags.
const (
	flagWeight = 1 << iota // a weight that is not graph.MaxWeight follows
	flagMarked
	flagBits = iota
)

// appendBucket appends the entries of a bucket; number gives types numbers.
func appendBucket(b []byte, k Bucket, number func(string) int) []byte {
	if !k.Whole() {
		return b
	}
	for i := range k.Entries {
		e := &k.Entries[i]
		head := uint64(number(e.Type)) << flagBits
		if e.Weight != graph.MaxWeight {
			head |= flagWeight
		}
		if e.Marked {
			head |= flagMarked
		}
		b = append(binary.AppendUvarint(b, head), e.Other[:]...)
		if e.Weight != graph.MaxWeight {
			b = binary.AppendUvarint(b, uint64(e.Weight))
		}
	}
	return b
}

// input decodes a part. Once bad is set it returns zeros.
type input struct {
	b   []byte
	bad bool
}

func (in *input) uint(most uint64) uint64 {
	n, size := binary.Uvarint(in.b)
	if size <= 0 || n > most {
		in.bad = true
		return 0
	}
	in.b = in.b[size:]
	return n
}

func (in *input) take(n int) []byte {
	if n > len(in.b) {
		in.bad = true
		return nil
	}
	out := in.b[:n:n]
	in.b = in.b[n:]
	return out
}

// entry reads an entry.
func (in *input) entry(types []string) (e HalfEdge) {
	head := in.uint(uint64(len(types)) << flagBits)
	other := in.take(graph.IDLen)
	n := head >> flagBits
	if in.bad || n >= uint64(len(types)) {
		in.bad = true
		return e
	}
	e = HalfEdge{Type: types[n], Other: graph.ID(other), Weight: graph.MaxWeight,
		Marked: head&flagMarked != 0}
	if head&flagWeight != 0 {
		e.Weight = uint32(in.uint(graph.MaxWeight - 1))
		in.bad = in.bad || e.Weight == 0
	}
	return e
}

// skip skips the entries of a bucket.
func (in *input) skip(degree int) {
	for range degree {
		if in.bad {
			return
		}
		head := in.uint(1 << 32)
		in.take(graph.IDLen)
		if head&flagWeight != 0 {
			in.uint(graph.MaxWeight)
		}
	}
}

// Found is the stored form of one node. The zero value is a node without edges. It is a view of cached data.
type Found struct {
	degrees [2]int // out, in
	types   []string
	entries []byte
}

// Sides of a node.
const (
	Out = iota
	In
)

// Degree returns how many edges a node has on one side, Out or In.
func (f Found) Degree(side int) int { return f.degrees[side] }

// Whole reports whether the entries of a side are stored.
func (f Found) Whole(side int) bool { return f.degrees[side] <= MaxEntries }

// Each calls fn with the entries of a side that is whole, in key order, until it returns false.
func (f Found) Each(side int, fn func(HalfEdge) bool) error {
	in := input{b: f.entries}
	if side == In && f.Whole(Out) {
		in.skip(f.degrees[Out])
	}
	if !f.Whole(side) {
		return nil
	}
	for range f.degrees[side] {
		e := in.entry(f.types)
		if in.bad {
			return segment.Corrupt("entries of a node end early")
		}
		if !fn(e) {
			return nil
		}
	}
	if side == In && len(in.b) > 0 {
		return segment.Corrupt("%d bytes behind the entries of a node", len(in.b))
	}
	return nil
}

// node decodes everything, reusing the entries of n.
func (f Found) node(id graph.ID, n *Node) error {
	n.ID = id
	for side, b := range [...]*Bucket{Out: &n.Out, In: &n.In} {
		b.Degree, b.Entries = f.degrees[side], b.Entries[:0]
		err := f.Each(side, func(e HalfEdge) bool {
			b.Entries = append(b.Entries, e)
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

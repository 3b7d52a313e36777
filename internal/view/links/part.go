package links

import (
	"bytes"
	"encoding/binary"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// part is a decoded part: nodes in ascending order of id.
type part struct {
	ids   []byte // end to end
	ends  []byte // of each node in data, u16
	data  []byte
	types []string
}

func (p *part) len() int                     { return len(p.ids) / graph.IDLen }
func (p *part) id(i int) graph.ID            { return graph.ID(p.ids[i*graph.IDLen:]) }
func (p *part) first() []byte                { return p.ids[:graph.IDLen] }
func (p *part) end(i int) int                { return int(binary.LittleEndian.Uint16(p.ends[2*i:])) }
func (p *part) memory(size int) int          { return size + 120 + 40*len(p.types) }
func (p *part) find(id graph.ID) (int, bool) { return segment.IDPart(p.ids).Find(id) }

// at returns the stored form of node i.
func (p *part) at(i int) (f Found, err error) {
	from := 0
	if i > 0 {
		from = p.end(i - 1)
	}
	in := input{b: p.data[from:p.end(i)]}
	f.degrees[Out], f.degrees[In] = int(in.uint(maxDegree)), int(in.uint(maxDegree))
	if in.bad {
		return Found{}, segment.Corrupt("node %s", p.id(i))
	}
	f.types, f.entries = p.types, in.b
	return f, nil
}

// decodePart decodes a part, keeping views of it.
func decodePart(b []byte) (*part, error) {
	in := input{b: b}
	n, types := int(in.uint(maxPart)), int(in.uint(maxPart))
	if in.bad || n == 0 || len(b) > maxPart || (graph.IDLen+2)*n+types > len(in.b) {
		return nil, segment.Corrupt("part of %d nodes in %d bytes", n, len(b))
	}
	p := &part{types: make([]string, types)}
	for i := range p.types {
		p.types[i] = string(in.take(int(in.uint(graph.MaxType))))
	}
	p.ids = in.take(n * graph.IDLen)
	p.ends = in.take(2 * n)
	p.data = in.b
	if in.bad {
		return nil, segment.Corrupt("part of %d nodes and %d types ends early", n, types)
	}
	for i := range n {
		last := 0
		if i > 0 {
			last = p.end(i - 1)
			if bytes.Compare(p.ids[(i-1)*graph.IDLen:i*graph.IDLen], p.ids[i*graph.IDLen:][:graph.IDLen]) >= 0 {
				return nil, segment.Corrupt("node %s does not ascend", p.id(i))
			}
		}
		if p.end(i) <= last || p.end(i) > len(p.data) {
			return nil, segment.Corrupt("node %s ends at byte %d of %d", p.id(i), p.end(i), len(p.data))
		}
	}
	if p.end(n-1) != len(p.data) {
		return nil, segment.Corrupt("%d bytes behind the last node", len(p.data)-p.end(n-1))
	}
	return p, nil
}

type partWriter struct {
	ids, ends, data []byte
	types           []string
	numbers         map[string]int
	size            int // of all but the numbers at the beginning
}

func (w *partWriter) number(typ string) int {
	n, ok := w.numbers[typ]
	if !ok {
		n = len(w.types)
		w.numbers[typ] = n
		w.types = append(w.types, typ)
		w.size += 2 + len(typ)
	}
	return n
}

func (w *partWriter) add(n *Node) {
	from := len(w.data)
	w.ids = append(w.ids, n.ID[:]...)
	w.data = binary.AppendUvarint(w.data, uint64(n.Out.Degree))
	w.data = binary.AppendUvarint(w.data, uint64(n.In.Degree))
	w.data = appendBucket(w.data, n.Out, w.number)
	w.data = appendBucket(w.data, n.In, w.number)
	w.ends = binary.LittleEndian.AppendUint16(w.ends, uint16(len(w.data)))
	w.size += graph.IDLen + 2 + len(w.data) - from
}

// finish returns the part and resets the writer for the next.
func (w *partWriter) finish() []byte {
	b := binary.AppendUvarint(make([]byte, 0, w.size+4), uint64(len(w.ids)/graph.IDLen))
	b = binary.AppendUvarint(b, uint64(len(w.types)))
	for _, t := range w.types {
		b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	}
	b = append(append(append(b, w.ids...), w.ends...), w.data...)
	w.ids, w.ends, w.data, w.types = w.ids[:0], w.ends[:0], w.data[:0], w.types[:0]
	w.size = 0
	clear(w.numbers)
	return b
}

// most is an upper bound for a node's size in a part, except for types that others share.
func (n *Node) most() int {
	size := graph.IDLen + 2 + 2*binary.MaxVarintLen64
	for _, b := range [...]*Bucket{&n.Out, &n.In} {
		if b.Whole() {
			size += len(b.Entries) * (graph.IDLen + 8)
		}
	}
	return size
}

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

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

func (p *part) len() int            { return len(p.ids) / graph.IDLen }
func (p *part) id(i int) graph.ID   { return graph.ID(p.ids[i*graph.IDLen:]) }
func (p *part) first() []byte       { return p.ids[:graph.IDLen] }
func (p *part) end(i int) int       { return int(binary.LittleEndian.Uint16(p.ends[2*i:])) }
func (p *part) memory(size int) int { return size + 120 + 40*len(p.types) }

// find returns the index of an id, and whether it is there.
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

// partWriter encodes a part.
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

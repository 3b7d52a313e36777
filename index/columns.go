package index

import (
	"encoding/binary"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/segment"
)

// docMeta is what a filter may ask about a document beside its properties.
type docMeta struct {
	typ       string
	created   graph.Time
	updated   graph.OptTime
	validFrom graph.OptTime
	validTo   graph.OptTime
}

// Flags of a document in a part of "meta".
const (
	metaUpdated = 1 << iota
	metaFrom
	metaTo
	metaFlags = 1<<iota - 1
)

// metaPart is a part of "meta".
type metaPart struct {
	first uint32 // number of its first document
	docs  []docMeta
}

func (p *metaPart) size() int {
	if p == nil {
		return 0
	}
	return 96 * len(p.docs)
}

// encodeMeta returns a part: the types in it, sorted, then its documents.
func encodeMeta(docs []docMeta) []byte {
	types := make([]string, len(docs))
	for i := range docs {
		types[i] = docs[i].typ
	}
	slices.Sort(types)
	types = slices.Compact(types)
	b := putUint(nil, uint64(len(docs)))
	b = putUint(b, uint64(len(types)))
	for _, t := range types {
		b = append(putUint(b, uint64(len(t))), t...)
	}
	var last graph.Time
	for i := range docs {
		typ, _ := slices.BinarySearch(types, docs[i].typ)
		b = docs[i].append(b, typ, last)
		last = docs[i].created
	}
	return b
}

func (m *docMeta) append(b []byte, typ int, last graph.Time) []byte {
	var flags byte
	for i, t := range m.optional() {
		if t.Given {
			flags |= 1 << i
		}
	}
	b = putUint(append(b, flags), uint64(typ))
	b = putInt(b, int64(m.created-last))
	for _, t := range m.optional() {
		if t.Given {
			b = putInt(b, int64(t.Time-m.created))
		}
	}
	return b
}

// optional returns the times that may be absent, in the order of their flags.
func (m *docMeta) optional() [3]*graph.OptTime {
	return [3]*graph.OptTime{&m.updated, &m.validFrom, &m.validTo}
}

func decodeMeta(data, key []byte, docs int) (*metaPart, error) {
	if len(key) != 4 {
		return nil, segment.Corrupt("directory key %.40x", key)
	}
	in := input{b: data}
	p := &metaPart{first: binary.BigEndian.Uint32(key)}
	n := int(in.uint(docsPerPart))
	types := make([]string, in.uint(uint64(n)))
	for i := range types {
		types[i] = string(in.take(in.uint(graph.MaxType)))
	}
	// Each document takes three bytes or more.
	if in.bad || n == 0 || n > len(data)/3 || int64(p.first)+int64(n) > int64(docs) {
		return nil, segment.Corrupt("part of %d documents from %d of %d", n, p.first, docs)
	}
	p.docs = make([]docMeta, n)
	var last graph.Time
	for i := range p.docs {
		p.docs[i].decode(&in, types, last)
		last = p.docs[i].created
	}
	if in.bad || !in.done() {
		return nil, segment.Corrupt("documents from %d end at byte %d", p.first, in.pos)
	}
	return p, nil
}

func (m *docMeta) decode(in *input, types []string, last graph.Time) {
	flags := in.byte()
	typ := in.uint(uint64(len(types)))
	if typ == uint64(len(types)) || flags > metaFlags {
		in.fail()
		return
	}
	m.typ = types[typ]
	m.created = in.time(last)
	for i, t := range m.optional() {
		if flags>>i&1 == 1 {
			*t = graph.At(in.time(m.created))
		}
	}
}

// time reads a time as its distance from another.
func (in *input) time(from graph.Time) graph.Time {
	d := in.int()
	if span := int64(graph.MaxTime - graph.MinTime); d < -span || d > span {
		in.fail()
		return 0
	}
	t := from + graph.Time(d)
	if t < graph.MinTime || t > graph.MaxTime {
		in.fail()
		return 0
	}
	return t
}

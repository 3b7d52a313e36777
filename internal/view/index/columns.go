package index

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// docMeta holds the fields of a document that a filter may use, without its properties.
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

// metaGroup is how many documents are read together: a query that needs the times of one needs those of the others.
const metaGroup = 32

// metaPart is a part of "meta" as stored.
type metaPart struct {
	first uint32 // number of its first document
	n     int
	types []string
	width int    // of the number of a type in bytes
	typed []byte // the types' numbers
	ends  []byte // of the groups in data, u16
	data  []byte
}

func metaGroups(docs int) int { return (docs + metaGroup - 1) / metaGroup }

// typeWidth returns the size in bytes of a type's number, for a number of types.
func typeWidth(types int) int {
	if types <= 1<<8 {
		return 1
	}
	return 2
}

// encodeMeta returns a part: the types in it, sorted, then the columns.
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
	width := uint8(typeWidth(len(types)))
	for i := range docs {
		typ, _ := slices.BinarySearch(types, docs[i].typ)
		b = appendFixed(b, uint32(typ), width)
	}
	var times []byte
	var last graph.Time
	for i := range docs {
		if i%metaGroup == 0 {
			if last = 0; i > 0 {
				b = binary.LittleEndian.AppendUint16(b, uint16(len(times)))
			}
		}
		times = docs[i].append(times, last)
		last = docs[i].created
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(times)))
	return append(b, times...)
}

func (m *docMeta) append(b []byte, last graph.Time) []byte {
	var flags byte
	for i, t := range m.optional() {
		if t.Given {
			flags |= 1 << i
		}
	}
	b = putInt(append(b, flags), int64(m.created-last))
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

// decodeMeta reads a part. The result refers to data.
func decodeMeta(data, key []byte, docs int) (*metaPart, error) {
	if len(key) != 4 {
		return nil, segment.Corrupt("directory key %.40x", key)
	}
	in := input{b: data}
	p := &metaPart{first: binary.BigEndian.Uint32(key)}
	p.n = int(in.uint(docsPerPart))
	p.types = make([]string, in.uint(uint64(p.n)))
	for i := range p.types {
		p.types[i] = string(in.take(in.uint(graph.MaxType)))
	}
	if in.bad || p.n == 0 || int64(p.first)+int64(p.n) > int64(docs) {
		return nil, segment.Corrupt("part of %d documents from %d of %d", p.n, p.first, docs)
	}
	p.width = typeWidth(len(p.types))
	p.typed = in.take(uint64(p.width * p.n))
	p.ends = in.take(uint64(2 * metaGroups(p.n)))
	p.data = in.b[in.pos:]
	if in.bad {
		return nil, segment.Corrupt("part of %d documents from %d ends early", p.n, p.first)
	}
	for i := range p.n {
		if p.number(i) >= len(p.types) {
			return nil, segment.Corrupt("document %d is of no type", int(p.first)+i)
		}
	}
	last := 0
	for g := range metaGroups(p.n) {
		end := p.end(g)
		// The times of each document take two bytes or more.
		if end-last < 2*min(metaGroup, p.n-g*metaGroup) || end > len(p.data) {
			return nil, segment.Corrupt("documents from %d end at byte %d", p.first, end)
		}
		last = end
	}
	if last != len(p.data) {
		return nil, segment.Corrupt("%d bytes behind the documents from %d", len(p.data)-last, p.first)
	}
	return p, nil
}

func (p *metaPart) end(g int) int { return int(binary.LittleEndian.Uint16(p.ends[2*g:])) }

// number returns the number of the type of a document of the part.
func (p *metaPart) number(i int) int {
	if p.width == 1 {
		return int(p.typed[i])
	}
	return int(binary.LittleEndian.Uint16(p.typed[2*i:]))
}

func (p *metaPart) has(doc uint32) bool   { return p != nil && doc-p.first < uint32(p.n) }
func (p *metaPart) typ(doc uint32) string { return p.types[p.number(int(doc-p.first))] }

// group appends the fields of a group's documents.
func (p *metaPart) group(list []docMeta, g int) ([]docMeta, error) {
	from := 0
	if g > 0 {
		from = p.end(g - 1)
	}
	in := input{b: p.data[from:p.end(g)]}
	var last graph.Time
	for i := g * metaGroup; i < min((g+1)*metaGroup, p.n); i++ {
		m := docMeta{typ: p.types[p.number(i)]}
		m.decode(&in, last)
		last = m.created
		list = append(list, m)
	}
	if in.bad || !in.done() {
		return nil, segment.Corrupt("documents from %d end at byte %d", int(p.first)+g*metaGroup, in.pos)
	}
	return list, nil
}

func (m *docMeta) decode(in *input, last graph.Time) {
	flags := in.byte()
	if flags > metaFlags {
		in.fail()
		return
	}
	m.created = in.time(last)
	for i, t := range m.optional() {
		if flags>>i&1 == 1 {
			*t = graph.At(in.time(m.created))
		}
	}
}

// metaReader reads "meta" of one segment, with the part and the group used last.
type metaReader struct {
	part *metaPart
	docs []docMeta // of the group
	from uint32    // its first document
}

// open makes the part that has a document the current one.
func (r *metaReader) open(ctx context.Context, src *source, s *segment.Segment, doc uint32) (err error) {
	if !r.part.has(doc) {
		r.docs = r.docs[:0]
		r.part, err = src.meta(ctx, s, doc)
	}
	return err
}

// at returns the fields of a document, valid until the next call.
func (r *metaReader) at(ctx context.Context, src *source, s *segment.Segment, doc uint32) (*docMeta, error) {
	if doc-r.from >= uint32(len(r.docs)) {
		if err := r.open(ctx, src, s, doc); err != nil {
			return nil, err
		}
		g := int(doc-r.part.first) / metaGroup
		var err error
		if r.docs, err = r.part.group(r.docs[:0], g); err != nil {
			r.docs = nil
			return nil, src.Wrap(s, secMeta, err)
		}
		r.from = r.part.first + uint32(g*metaGroup)
	}
	return &r.docs[doc-r.from], nil
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

// typeBytes is the overhead of a type's name in a part, without its bytes.
const typeBytes = 24

// source reads segments and their parts. Safe for concurrent use.
type source struct{ *segment.Reader }

func (r *source) meta(ctx context.Context, s *segment.Segment, doc uint32) (*metaPart, error) {
	m, _, err := segment.Covering(ctx, r.Reader, s, secMeta, docKey(doc), func(key, data []byte) (*metaPart, int, error) {
		m, err := decodeMeta(data, key, s.Docs)
		if err != nil {
			return nil, 0, err
		}
		return m, len(data) + typeBytes*len(m.types), nil
	})
	if err == nil && !m.has(doc) {
		err = r.Wrap(s, secMeta, segment.Corrupt("no document %d", doc))
	}
	return m, err
}

// docLens are the lengths of a document's fields in terms.
type docLens [Fields]uint32

// appendLens appends the lengths of one document, as a draft has them.
func appendLens(b []byte, lens docLens) []byte {
	for _, n := range lens {
		b = putUint(b, uint64(n))
	}
	return b
}

// lenPart is the lengths of docsPerPart documents, fewer in the last part, as they are stored: of each field a column
// of numbers of 0, 1, 2 or 4 bytes, which nothing decodes but who wants one. A search wants few of most parts.
type lenPart struct {
	columns [Fields][]byte
	widths  [Fields]uint8
}

func encodeLens(docs []docLens) []byte {
	var b []byte
	for f := range Fields {
		most := uint32(0)
		for i := range docs {
			most = max(most, docs[i][f])
		}
		width := lenWidth(most)
		b = append(b, width)
		for i := range docs {
			b = appendFixed(b, docs[i][f], width)
		}
	}
	return b
}

func lenWidth(most uint32) uint8 {
	switch {
	case most == 0:
		return 0
	case most <= math.MaxUint8:
		return 1
	case most <= math.MaxUint16:
		return 2
	}
	return 4
}

func appendFixed(b []byte, n uint32, width uint8) []byte {
	for range width {
		b = append(b, byte(n))
		n >>= 8
	}
	return b
}

// decodeLens returns a part of n documents, which keeps the data.
func decodeLens(data []byte, n int) (*lenPart, error) {
	p := new(lenPart)
	left := data
	for f := range Fields {
		if len(left) == 0 || left[0] > 4 || left[0] == 3 || len(left)-1 < n*int(left[0]) {
			return nil, segment.Corrupt("%d bytes of lengths of %d documents", len(data), n)
		}
		p.widths[f] = left[0]
		p.columns[f], left = left[1:1+n*int(left[0])], left[1+n*int(left[0]):]
	}
	if len(left) > 0 {
		return nil, segment.Corrupt("%d bytes of lengths of %d documents", len(data), n)
	}
	return p, nil
}

// at returns the lengths of some fields of a document, 0 for the others.
func (p *lenPart) at(doc uint32, fields byte) (lens docLens) {
	i := doc % docsPerPart
	for m := fields; m != 0; m &= m - 1 {
		f := bits.TrailingZeros8(m)
		switch c := p.columns[f]; p.widths[f] {
		case 1:
			lens[f] = uint32(c[i])
		case 2:
			lens[f] = uint32(binary.LittleEndian.Uint16(c[2*i:]))
		case 4:
			lens[f] = binary.LittleEndian.Uint32(c[4*i:])
		}
	}
	return lens
}

func (r *source) lens(ctx context.Context, s *segment.Segment, n int) (*lenPart, error) {
	return segment.Part(ctx, r.Reader, s, secLens, n, func(_, data []byte) (*lenPart, int, error) {
		lens, err := decodeLens(data, min(docsPerPart, s.Docs-n*docsPerPart))
		return lens, len(data), err
	})
}

package index

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/segment"
)

// Draft analyses documents while their order in an index is not known yet, such as those that a
// large commit makes, one after the other: what Update finds in it, it need not be given again. It
// takes a third of the text's bytes or so. A draft is filled by one goroutine, and then read.
type Draft struct {
	b     *builder // its terms are the dictionary
	limit int
	types map[string]int
	names []string // of types
	arena [][]byte
	size  int // of the arena
	at    map[ipld.CID][]byte
}

// Analysed is a document in a draft.
type Analysed struct {
	draft  *Draft
	record []byte
}

const draftPiece = 256 << 10

// NewDraft returns an empty draft for an index of the default language, that takes documents until
// it has about limit bytes.
func NewDraft(limit int) (*Draft, error) {
	a, err := text.New(defaultLanguage)
	if err != nil {
		return nil, err
	}
	return &Draft{
		b: newBuilder(a), limit: limit, types: make(map[string]int), at: make(map[ipld.CID][]byte),
	}, nil
}

// Add analyses a document, to be found under a CID that stands for it alone. It keeps nothing of
// the document. A full draft ignores it.
func (d *Draft) Add(c ipld.CID, doc *Document) {
	const perDoc, perCount = 96, 20 // in the map; of a term
	if d.size+d.b.lexicon.Bytes()+perCount*cap(d.b.counts)+perDoc*len(d.at) >= d.limit {
		return
	}
	var buf []byte
	if n := len(d.arena); n > 0 {
		buf = d.arena[n-1]
	}
	start := len(buf)
	b := d.append(buf, doc)
	if cap(b) != cap(buf) { // it did not fit the piece: it begins the next one
		b = append(make([]byte, 0, max(draftPiece, len(b)-start)), b[start:]...)
		d.arena = append(d.arena, b)
		d.size += cap(b)
		start = 0
	}
	d.arena[len(d.arena)-1] = b
	d.at[c] = b[start:len(b):len(b)]
}

// append appends a record: lengths, what filters ask for, properties, then each term by its number
// in the dictionary as a posting.
func (d *Draft) append(b []byte, doc *Document) []byte {
	b = appendLens(b, d.b.count(doc))
	m := doc.meta()
	typ, ok := d.types[m.typ]
	if !ok {
		typ = len(d.names)
		m.typ = strings.Clone(m.typ)
		d.types[m.typ] = typ
		d.names = append(d.names, m.typ)
	}
	b = m.append(putUint(b, uint64(typ)), 0)
	b = putUint(b, uint64(len(doc.Node.Props)))
	for _, e := range doc.Node.Props {
		b = append(putUint(b, uint64(len(e.Key))), e.Key...)
		item := ipld.AppendValue(d.b.scratch[:0], e.Value)
		b = append(putUint(b, uint64(len(item))), item...)
		d.b.scratch = item
	}
	b = putUint(b, uint64(len(d.b.touched)))
	for _, t := range d.b.touched {
		b = appendPosting(b, uint32(t), &d.b.counts[t].tf)
	}
	return b
}

// Find returns the document under a CID, nil where there is none.
func (d *Draft) Find(c ipld.CID) *Analysed {
	if d == nil || d.at[c] == nil {
		return nil
	}
	return &Analysed{d, d.at[c]}
}

// addAnalysed takes a new document from a draft.
func (b *builder) addAnalysed(c Change) error {
	d := c.Analysed.draft
	if b.draft != d {
		b.draft, b.drafted = d, nil
	}
	if n := d.b.lexicon.Len(); len(b.drafted) < n {
		b.drafted = append(b.drafted, make([]int32, n-len(b.drafted))...)
	}
	in := input{b: c.Analysed.record}
	var lens docLens
	for f := range lens {
		lens[f] = uint32(in.uint(maxTF))
	}
	m := docMeta{typ: d.names[in.uint(uint64(len(d.names)-1))]}
	m.decode(&in, 0)
	doc := b.addDoc(c.ID, m, lens)
	for range in.uint(maxCount) {
		name := in.take(in.uint(graph.MaxPropName))
		b.addProp(doc, string(name), in.take(in.uint(ipld.MaxBlock)))
	}
	for range in.uint(maxCount) {
		number := in.uint(uint64(len(b.drafted)) - 1)
		tfs := in.rawTFs()
		if in.bad {
			break
		}
		if b.drafted[number] == 0 {
			b.drafted[number] = int32(b.lexicon.Number(string(d.b.lexicon.Term(int(number))))) + 1
			b.grow()
		}
		t := &b.posts[b.drafted[number]-1]
		posts := append(putUint(t.posts, uint64(doc-t.next)), tfs...)
		b.size += len(posts) - len(t.posts)
		t.posts, t.next = posts, doc+1
		t.count++
	}
	b.measure()
	if in.bad || !in.done() {
		return segment.Corrupt("draft of document %s, of its own making, unreadable", c.ID)
	}
	return nil
}

package index

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// builder collects changes, ascending by id, and writes them as one segment.
type builder struct {
	analyser *text.Analyzer
	lexicon  *text.Lexicon // numbers the terms
	ids      []graph.ID
	dead     []graph.ID
	lens     []docLens
	meta     []docMeta
	props    map[string]*column
	places   []uint32    // by number of the term: where it is in touched, if it is there
	posts    []termPosts // likewise
	touched  []termCount // of the document being counted, as they were first met
	title    []int       // the first terms of its summary
	terms    sums        // of the documents less those that are killed
	filled   sums
	size     int // bytes of memory, about
	sized    int // terms that are in size
	scratch  []byte
	draft    *Draft  // the one that documents came from last
	drafted  []int32 // by a term's number there: one more than its number here; 0 if not met yet
}

type termCount struct {
	term int
	tf   [Fields]uint32
}

type termPosts struct {
	posts []byte // as in a block, without end
	count int
	neg   int
	next  uint32 // one past the last document
}

type column struct {
	docs []uint32
	ends []int // of each value in data
	data []byte
}

// Rough sizes in bytes of what a builder keeps for each document, term and property.
const (
	docMemory  = 160
	termMemory = 160
	itemMemory = 16
)

func newBuilder(a *text.Analyzer) *builder {
	return &builder{analyser: a, lexicon: a.Lexicon(), props: make(map[string]*column)}
}

func (b *builder) empty() bool { return len(b.ids) == 0 && len(b.dead) == 0 }

// add takes one change, whose id is above all before.
func (b *builder) add(c Change) error {
	if c.Analysed != nil {
		return b.addAnalysed(c)
	}
	if c.Old != nil {
		b.size += docMemory
		b.dead = append(b.dead, c.ID)
		b.sum(-1, b.count(c.Old))
		b.grow()
		for i := range b.touched {
			b.posts[b.touched[i].term].neg++
		}
	}
	if c.New != nil {
		lens := b.count(c.New)
		doc := b.addDoc(c.ID, c.New.meta(), lens)
		b.grow()
		for i := range b.touched {
			t := &b.touched[i]
			b.addPosting(t.term, doc, &t.tf)
		}
		for _, e := range c.New.Node.Props {
			b.scratch = ipld.AppendValue(b.scratch[:0], e.Value)
			b.addProp(doc, e.Key, b.scratch)
		}
	}
	return nil
}

// addDoc adds a document without its terms and properties and returns its number.
func (b *builder) addDoc(id graph.ID, m docMeta, lens docLens) uint32 {
	b.size += docMemory
	b.ids, b.meta, b.lens = append(b.ids, id), append(b.meta, m), append(b.lens, lens)
	b.sum(1, lens)
	return uint32(len(b.ids) - 1)
}

func (b *builder) grow() {
	if n := b.lexicon.Len(); n > len(b.posts) {
		b.posts = append(b.posts, make([]termPosts, n-len(b.posts))...)
	}
}

func (b *builder) measure() {
	for ; b.sized < b.lexicon.Len(); b.sized++ {
		b.size += termMemory + len(b.lexicon.Term(b.sized))
	}
}

func (b *builder) addPosting(term int, doc uint32, tf *[Fields]uint32) {
	t := &b.posts[term]
	b.size -= len(t.posts)
	t.posts = appendPosting(t.posts, doc-t.next, tf)
	b.size += len(t.posts)
	t.next = doc + 1
	t.count++
}

// count analyses a document and leaves its terms in touched. The units of Han are in no length.
func (b *builder) count(d *Document) (lens docLens) {
	b.touched, b.title = b.touched[:0], b.title[:0]
	field := 0
	add := func(term int, unit bool) {
		b.touch(term).tf[field]++
		if unit {
			return
		}
		lens[field]++
		if field == FieldSummary && len(b.title) <= maxTitleTerms {
			b.title = append(b.title, term)
		}
	}
	d.eachText(func(f int, s string) {
		if field = f; s != "" {
			b.lexicon.EachOfField(s, add)
		}
	})
	if key := b.titleKey(d.Node.Summary); key != "" {
		b.touch(b.lexicon.Number(key)).tf = [Fields]uint32{FieldSummary: 1}
	}
	b.measure()
	return lens
}

// touch returns the count of a term in the document being counted. It is valid until the next touch.
func (b *builder) touch(term int) *termCount {
	if n := term + 1 - len(b.places); n > 0 {
		b.places = append(b.places, make([]uint32, n)...)
	}
	place := int(b.places[term]) // what a document before left, perhaps
	if place >= len(b.touched) || b.touched[place].term != term {
		place = len(b.touched)
		b.places[term] = uint32(place)
		b.touched = append(b.touched, termCount{term: term})
	}
	return &b.touched[place]
}

// titleKey returns the dictionary key of a summary, whose terms were counted last, "" for one that is no title.
func (b *builder) titleKey(summary string) string {
	if strings.HasSuffix(summary, ")") { // what is in brackets may not belong to it
		if terms := Title(b.analyser, summary); terms != nil {
			return titleKey(terms)
		}
		return ""
	}
	key := b.scratch[:0]
	for _, t := range b.title {
		key = append(append(key, titleMark...), b.lexicon.Term(t)...)
	}
	b.scratch = key
	if len(b.title) > maxTitleTerms || len(key) > maxTerm {
		return ""
	}
	return string(key)
}

// sum adds the lengths of a document to the statistics, or takes them away.
func (b *builder) sum(sign int64, lens docLens) {
	for f, n := range lens {
		b.terms[f] += sign * int64(n)
		if n > 0 {
			b.filled[f] += sign
		}
	}
}

// addProp adds a property of the newest document. The item is copied.
func (b *builder) addProp(doc uint32, name string, item []byte) {
	c := b.props[name]
	if c == nil {
		c = new(column)
		b.props[name] = c
	}
	c.docs = append(c.docs, doc)
	c.data = append(c.data, item...)
	c.ends = append(c.ends, len(c.data))
	b.size += itemMemory + len(item)
}

// finish writes the segment but for its own block, and returns that.
func (b *builder) finish(to *segment.Writer) (*segment.Segment, store.Block, error) {
	w := newSegmentWriter(to)
	for i, id := range b.ids {
		if err := w.addDoc(id, b.lens[i], &b.meta[i]); err != nil {
			return nil, store.Block{}, err
		}
	}
	for _, id := range b.dead {
		if err := w.AddKill(id); err != nil {
			return nil, store.Block{}, err
		}
	}
	if err := b.writeProps(w); err != nil {
		return nil, store.Block{}, err
	}
	if err := b.writeTerms(w); err != nil {
		return nil, store.Block{}, err
	}
	w.sum(b.terms, b.filled)
	return w.finish()
}

func (b *builder) writeProps(w *segmentWriter) error {
	for _, name := range slices.SortedFunc(maps.Keys(b.props), ipld.CompareKeys) {
		c := b.props[name]
		from := 0
		for i, doc := range c.docs {
			if err := w.props.add(name, doc, c.data[from:c.ends[i]]); err != nil {
				return err
			}
			from = c.ends[i]
		}
	}
	return nil
}

func (b *builder) writeTerms(w *segmentWriter) error {
	terms := make([]int32, len(b.posts))
	for i := range terms {
		terms[i] = int32(i)
	}
	slices.SortFunc(terms, func(x, y int32) int {
		return bytes.Compare(b.lexicon.Term(int(x)), b.lexicon.Term(int(y)))
	})
	var k block
	for _, n := range terms {
		t, term := &b.posts[n], string(b.lexicon.Term(int(n)))
		in := input{b: t.posts}
		next := uint64(0)
		for left := t.count; left > 0; left -= k.n {
			next = k.decode(&in, min(left, blockDocs), next, len(b.ids))
			if in.bad {
				return fmt.Errorf("index term %q: postings of its own making unreadable", term)
			}
			for i := range k.n {
				if err := w.posts.add(k.posts[i].doc, &k.posts[i].tf); err != nil {
					return err
				}
			}
		}
		if err := w.endTerm(term, t.neg); err != nil {
			return err
		}
	}
	return nil
}

// Document is a node as the index sees it.
type Document struct {
	Node    *graph.Node
	Content string // the whole text of Node.Content, "" if there is none
}

// Change is the change of one node: Old is nil for a new node and New for a removed one. Old must be the document that
// the base was built with: its terms leave the statistics.
type Change struct {
	ID       graph.ID
	Old, New *Document
	// Analysed is the new node if a Draft has it: then New and Old are nil.
	Analysed *Analysed
}

func (d *Document) eachText(fn func(field int, s string)) {
	n := d.Node
	fn(FieldSummary, n.Summary)
	fn(FieldContext, n.Context)
	fn(FieldContent, d.Content)
	for _, e := range n.Props {
		if e.Value.Kind() == ipld.String {
			fn(FieldProps, e.Value.Text())
		}
		for _, item := range e.Value.List() {
			if item.Kind() == ipld.String {
				fn(FieldProps, item.Text())
			}
		}
	}
	fn(FieldType, n.Type)
	for _, cue := range n.Cues {
		fn(FieldCues, cue)
	}
}

func (d *Document) meta() docMeta {
	n := d.Node
	return docMeta{
		typ: n.Type, created: n.Created, updated: n.Updated,
		validFrom: n.ValidFrom, validTo: n.ValidTo,
	}
}

// same reports whether the index holds the same about two documents.
func (d *Document) same(e *Document) bool {
	return d.meta() == e.meta() && d.Content == e.Content &&
		d.Node.Summary == e.Node.Summary && d.Node.Context == e.Node.Context &&
		slices.Equal(d.Node.Cues, e.Node.Cues) &&
		slices.EqualFunc(d.Node.Props, e.Node.Props, func(a, b ipld.Entry) bool {
			return a.Key == b.Key && a.Value.Equal(b.Value)
		})
}

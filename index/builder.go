package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// builder collects changes, ascending by id, and writes them as one segment.
type builder struct {
	analyser *text.Analyzer
	ids      []graph.ID
	dead     []graph.ID
	lens     []docLens
	meta     []docMeta
	props    map[string]*column
	terms    map[string]*termPosts
	order    []*termPosts // as they were first met
	touched  []*termPosts
	stamp    uint32 // of the document being counted
	seg      segment
	size     int // bytes of memory, about
	scratch  []byte
	draft    *Draft       // the one that documents came from last
	drafted  []*termPosts // by their numbers there; nil where not met yet
}

// termPosts is one term while a segment is built.
type termPosts struct {
	term   string
	number uint32         // among the terms of its builder
	tf     [Fields]uint32 // in the document that stamp names
	stamp  uint32
	count  int
	neg    int
	next   uint32 // one past the last document
	posts  []byte // as in a block, without end
}

// column is one property while a segment is built.
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
	return &builder{
		analyser: a,
		props:    make(map[string]*column),
		terms:    make(map[string]*termPosts),
	}
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
		for _, t := range b.touched {
			t.neg++
		}
	}
	if c.New != nil {
		lens := b.count(c.New)
		doc := b.addDoc(c.ID, c.New.meta(), lens)
		for _, t := range b.touched {
			b.addPosting(t, doc, &t.tf)
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

func (b *builder) addPosting(t *termPosts, doc uint32, tf *[Fields]uint32) {
	b.size -= len(t.posts)
	t.posts = appendPosting(t.posts, doc-t.next, tf)
	b.size += len(t.posts)
	t.next = doc + 1
	t.count++
}

// count analyses a document and leaves its terms in touched, with their numbers. The units of Han
// are in no length.
func (b *builder) count(d *Document) (lens docLens) {
	b.stamp++
	b.touched = b.touched[:0]
	d.eachText(func(field int, s string) {
		if s == "" {
			return
		}
		b.analyser.EachOfField(s, func(term string, unit bool) bool {
			t := b.term(term)
			if t.stamp != b.stamp {
				t.stamp, t.tf = b.stamp, [Fields]uint32{}
				b.touched = append(b.touched, t)
			}
			t.tf[field]++
			if !unit {
				lens[field]++
			}
			return true
		})
	})
	if title := Title(b.analyser, d.Node.Summary); title != nil {
		t := b.term(titleKey(title))
		t.stamp, t.tf = b.stamp, [Fields]uint32{FieldSummary: 1}
		b.touched = append(b.touched, t)
	}
	return lens
}

// sum adds the lengths of a document to the statistics, or takes them away.
func (b *builder) sum(sign int64, lens docLens) {
	for f, n := range lens {
		b.seg.terms[f] += sign * int64(n)
		if n > 0 {
			b.seg.filled[f] += sign
		}
	}
}

func (b *builder) term(term string) *termPosts {
	if t, ok := b.terms[term]; ok {
		return t
	}
	t := &termPosts{term: strings.Clone(term), number: uint32(len(b.order))}
	b.terms[t.term] = t
	b.order = append(b.order, t)
	b.size += termMemory + len(term)
	return t
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
func (b *builder) finish(ctx context.Context, put store.Putter) (*segment, store.Block, error) {
	w := newSegmentWriter(ctx, put)
	for i, id := range b.ids {
		if err := w.addDoc(id, b.lens[i], &b.meta[i]); err != nil {
			return nil, store.Block{}, err
		}
	}
	for _, id := range b.dead {
		if err := w.addDead(id); err != nil {
			return nil, store.Block{}, err
		}
	}
	if err := b.writeProps(w); err != nil {
		return nil, store.Block{}, err
	}
	if err := b.writeTerms(w); err != nil {
		return nil, store.Block{}, err
	}
	w.seg.terms, w.seg.filled = b.seg.terms, b.seg.filled
	return w.finish()
}

func (b *builder) writeProps(w *segmentWriter) error {
	names := make([]string, 0, len(b.props))
	for name := range b.props {
		names = append(names, name)
	}
	slices.SortFunc(names, ipld.CompareKeys)
	for _, name := range names {
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
	terms := b.order
	slices.SortFunc(terms, func(x, y *termPosts) int { return strings.Compare(x.term, y.term) })
	var k block
	for _, t := range terms {
		in := input{b: t.posts}
		next := uint64(0)
		for left := t.count; left > 0; left -= k.n {
			next = k.decode(&in, min(left, blockDocs), next, len(b.ids))
			if in.bad {
				return fmt.Errorf("index term %q: postings of its own making unreadable", t.term)
			}
			for i := range k.n {
				if err := w.posts.add(k.posts[i].doc, &k.posts[i].tf); err != nil {
					return err
				}
			}
		}
		if err := w.endTerm(t.term, t.neg); err != nil {
			return err
		}
	}
	return nil
}

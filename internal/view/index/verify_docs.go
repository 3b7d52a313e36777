package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"iter"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// expectedGroup is how many documents are analysed together at most, and expectedText how many bytes of text
	// end a group before.
	expectedGroup = 64
	expectedText  = 1 << 20
	// expectedBytes bounds the texts that are being analysed, apart from one group.
	expectedBytes = 16 << 20
)

// Expectations holds the expected index entries of documents, each as one number. It is for callers that meet all
// documents before they have the index, and keep nothing else of them. The numbers are hashes under a random key, so no
// stored data can be made to match them. Safe for concurrent use.
type Expectations struct {
	seed     maphash.Seed
	builders sync.Pool // of *builder; they keep nothing between uses
}

// NewExpectations returns empty Expectations.
func NewExpectations() *Expectations { return &Expectations{seed: maphash.MakeSeed()} }

// Sum returns the number of a document, never 0.
func (x *Expectations) Sum(d *Document) uint64 {
	e := x.analyse([]*Document{d})[0]
	return e.total(x.seed)
}

// Wanted is a document that an index must have.
type Wanted struct {
	ID graph.ID
	// Sum is the number of the document, 0 if it is not known: then Document is the document.
	Sum      uint64
	Document *Document
}

// DocumentReader reads a document of an index's graph.
type DocumentReader func(context.Context, graph.ID) (*Document, error)

// expected is the expected index entry of a document.
type expected struct {
	id    graph.ID
	known uint64 // if it is not 0, all that is known
	meta  docMeta
	lens  docLens
	words uint64
	props uint64
}

// total returns the number that stands for a whole entry.
func (e *expected) total(seed maphash.Seed) uint64 {
	b := make([]byte, 0, 256)
	b = append(append(append(b, e.id[:]...), byte(len(e.meta.typ))), e.meta.typ...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.meta.created))
	for _, t := range []graph.OptTime{e.meta.updated, e.meta.validFrom, e.meta.validTo} {
		given := byte(0)
		if t.Given {
			given = 1
		}
		b = binary.BigEndian.AppendUint64(append(b, given), uint64(t.Time))
	}
	for _, n := range e.lens {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, e.words), e.props)
	return max(1, maphash.Bytes(seed, b))
}

// of yields the expected entries of documents, in their order.
func (x *Expectations) of(docs iter.Seq2[Wanted, error]) iter.Seq2[expected, error] {
	type group struct {
		docs  []Wanted
		bytes int
	}
	return func(yield func(expected, error) bool) {
		var failed error
		groups := func(yield func(group) bool) {
			var g group
			for d, err := range docs {
				if failed = err; err != nil {
					break
				}
				if d.Sum == 0 {
					d.Document.eachText(func(_ int, s string) { g.bytes += len(s) })
				}
				if g.docs = append(g.docs, d); len(g.docs) < expectedGroup && g.bytes < expectedText {
					continue
				}
				if !yield(g) {
					return
				}
				g = group{}
			}
			if len(g.docs) > 0 {
				yield(g)
			}
		}
		limit := parallel.Limit[group]{Bytes: expectedBytes, Size: func(g group) int { return g.bytes }}
		for list := range parallel.Map(groups, limit, func(g group) []expected { return x.wanted(g.docs) }) {
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(expected{}, failed)
		}
	}
}

func (x *Expectations) wanted(docs []Wanted) []expected {
	out := make([]expected, len(docs))
	var unknown []*Document
	for i, d := range docs {
		if out[i] = (expected{id: d.ID, known: d.Sum}); d.Sum == 0 {
			unknown = append(unknown, d.Document)
		}
	}
	for i, rest := 0, x.analyse(unknown); len(rest) > 0; i++ {
		if out[i].known == 0 {
			out[i], rest = rest[0], rest[1:]
		}
	}
	return out
}

func (x *Expectations) analyse(docs []*Document) []expected {
	b, _ := x.builders.Get().(*builder)
	if b == nil || b.size > defaultSpillBytes {
		b = newBuilder(text.English)
	}
	defer x.builders.Put(b)
	out := make([]expected, len(docs))
	for i, d := range docs {
		e := expected{id: d.Node.ID, meta: d.meta(), lens: b.count(d)}
		for i := range b.touched {
			t := &b.touched[i]
			e.words += word(x.seed, b.lexicon.Term(t.term), &t.tf)
		}
		for _, p := range d.Node.Props {
			e.props += propWord(x.seed, p.Key, ipld.AppendValue(nil, p.Value))
		}
		out[i] = e
	}
	return out
}

// walk goes through what documents should be.
type walk struct {
	next func() (expected, error, bool)
	v    *verifier
	at   *expected // nil before the first and after the last
}

func (w *walk) advance() error {
	e, err, ok := w.next()
	before := w.at
	if w.at = nil; !ok || err != nil {
		return err
	}
	if before != nil && before.id.Compare(e.id) >= 0 {
		return fmt.Errorf("document %s after %s", e.id, before.id)
	}
	w.at = &e
	return nil
}

// missing names the documents up to one that the index has; nil means all that are left.
func (w *walk) missing(before *graph.ID) error {
	for w.at != nil && (before == nil || w.at.id.Compare(*before) < 0) {
		if err := w.v.whole(w.at); err != nil {
			return err
		}
		w.v.sum(w.at.lens)
		w.v.add(w.at.id, "not in the index")
		if err := w.advance(); err != nil {
			return err
		}
	}
	return nil
}

// documents walks the graph's documents and the index side by side.
func (v *verifier) documents(docs iter.Seq2[Wanted, error]) error {
	next, stop := iter.Pull2(v.expect.of(docs))
	defer stop()
	want := &walk{next: next, v: v}
	if err := want.advance(); err != nil {
		return err
	}
	err := v.x.eachLive(v.ctx, func(view *view, n uint32) error {
		id, err := view.id(n)
		if err != nil {
			return err
		}
		if err := want.missing(&id); err != nil {
			return err
		}
		if want.at == nil || want.at.id != id {
			v.add(id, "in the index, but not in the graph")
			return nil
		}
		if err := v.document(view, n, want.at); err != nil {
			return err
		}
		return want.advance()
	})
	if err != nil {
		return err
	}
	return want.missing(nil)
}

// sum adds a document to the statistics.
func (v *verifier) sum(lens docLens) {
	v.stats.Nodes++
	for f, n := range lens {
		v.stats.Terms[f] += int64(n)
		if n > 0 {
			v.stats.Filled[f]++
		}
	}
}

// whole reads a document that is known only by its number.
func (v *verifier) whole(e *expected) error {
	if e.known == 0 {
		return nil
	}
	d, err := v.read(v.ctx, e.id)
	if err != nil {
		return err
	}
	if d == nil {
		return fmt.Errorf("document %s was there and is not", e.id)
	}
	*e = v.expect.analyse([]*Document{d})[0]
	return nil
}

// document compares one document.
func (v *verifier) document(view *view, n uint32, e *expected) error {
	meta, err := view.docMeta(n)
	if err != nil {
		return err
	}
	part, err := view.x.src.lens(v.ctx, view.seg, int(n/docsPerPart))
	if err != nil {
		return err
	}
	got := expected{
		id: e.id, meta: *meta, lens: part.at(n, allFields),
		words: v.words[view.n][n], props: v.props[view.n][n],
	}
	if e.known != 0 && got.total(v.seed) == e.known {
		v.sum(got.lens)
		return nil
	}
	if err := v.whole(e); err != nil {
		return err
	}
	v.sum(e.lens)
	if got.meta != e.meta {
		v.add(e.id, "type and times are %+v, should be %+v", got.meta, e.meta)
	}
	if got.lens != e.lens {
		v.add(e.id, "fields have %v terms, should have %v", got.lens, e.lens)
	}
	if got.words != e.words {
		v.add(e.id, "postings differ from its text")
	}
	if got.props != e.props {
		v.add(e.id, "properties differ")
	}
	return nil
}

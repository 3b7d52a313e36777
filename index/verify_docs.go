package index

import (
	"fmt"
	"hash/maphash"
	"iter"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/parallel"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// expectedGroup is how many documents are analysed together at most, and expectedText how many bytes of text
	// end a group before.
	expectedGroup = 64
	expectedText  = 1 << 20
	// expectedBytes bounds the texts that are being analysed, beside one group.
	expectedBytes = 16 << 20
)

// expected is what an index should say of a document.
type expected struct {
	id    graph.ID
	meta  docMeta
	lens  docLens
	words uint64
	props uint64
}

// expectations analyses documents: several goroutines do, each with a builder that keeps nothing.
type expectations struct {
	analyser *text.Analyzer
	seed     maphash.Seed
	builders sync.Pool
}

// of yields what an index should say of documents, in their order.
func (x *expectations) of(docs iter.Seq2[*Document, error]) iter.Seq2[expected, error] {
	type group struct {
		docs  []*Document
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
				d.eachText(func(_ int, s string) { g.bytes += len(s) })
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
		for list := range parallel.Map(groups, limit, func(g group) []expected { return x.analyse(g.docs) }) {
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

func (x *expectations) analyse(docs []*Document) []expected {
	b, _ := x.builders.Get().(*builder)
	if b == nil || b.size > defaultSpillBytes {
		b = newBuilder(x.analyser)
	}
	defer x.builders.Put(b)
	out := make([]expected, len(docs))
	for i, d := range docs {
		e := expected{id: d.Node.ID, meta: d.meta(), lens: b.count(d)}
		for _, t := range b.touched {
			e.words += word(x.seed, b.lexicon.Term(t), &b.counts[t].tf)
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
	w.v.sum(&e)
	return nil
}

// missing names the documents up to one that the index has; nil means all that are left.
func (w *walk) missing(before *graph.ID) error {
	for w.at != nil && (before == nil || w.at.id.Compare(*before) < 0) {
		w.v.add(w.at.id, "not in the index")
		if err := w.advance(); err != nil {
			return err
		}
	}
	return nil
}

// documents walks the graph's documents and the index side by side.
func (v *verifier) documents(docs iter.Seq2[*Document, error]) error {
	x := &expectations{analyser: v.x.analyser, seed: v.seed}
	next, stop := iter.Pull2(x.of(docs))
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
func (v *verifier) sum(e *expected) {
	v.stats.Nodes++
	for f, n := range e.lens {
		v.stats.Terms[f] += int64(n)
		if n > 0 {
			v.stats.Filled[f]++
		}
	}
}

// document compares one document.
func (v *verifier) document(view *view, n uint32, e *expected) error {
	meta, err := view.docMeta(n)
	if err != nil {
		return err
	}
	if *meta != e.meta {
		v.add(e.id, "type and times are %+v, should be %+v", *meta, e.meta)
	}
	part, err := view.x.src.lens(v.ctx, view.seg, int(n/docsPerPart))
	if err != nil {
		return err
	}
	if got := part.at(n, allFields); got != e.lens {
		v.add(e.id, "fields have %v terms, should have %v", got, e.lens)
	}
	if v.words[view.n][n] != e.words {
		v.add(e.id, "postings differ from its text")
	}
	if v.props[view.n][n] != e.props {
		v.add(e.id, "properties differ")
	}
	return nil
}

package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// maxMismatches is how many differences Verify names: one damage may show in every node.
const maxMismatches = 100

type verifier struct {
	ctx    context.Context
	x      *Index
	expect *Expectations
	read   DocumentReader

	words [][]uint64 // for each segment and document, the sum over its postings
	props [][]uint64 // likewise of its properties
	sums  [][]uint32 // of the titles of each segment and of their beginnings
	found []string
	seed  maphash.Seed // of words
	stats Stats
	// parts are the parts with lengths, of each segment, while postings are read. Postings refer to all of them
	// repeatedly, and a smaller cache would read them all for each term.
	parts [][]*lenPart
}

// Verify compares an index with the documents of its graph, which come ascending by id: every live document with its
// columns, lengths and postings, every df and every sum. It returns the differences, at most 100, none for a correct
// index. Damage that prevents reading is an error that wraps store.ErrCorrupt or store.ErrNotFound; an error of docs is
// returned. Documents are analysed on all processors while the next are read; a document known by its number alone is
// read only if the index does not match that. It keeps 20 bytes for each document of the index in memory, and while it
// reads postings the lengths, up to 4 bytes for each field.
func (x *Expectations) Verify(
	ctx context.Context, get store.Getter, manifest ipld.CID, docs iter.Seq2[Wanted, error], read DocumentReader,
) (wrong []string, err error) {
	at, err := Open(ctx, get, manifest, segment.NewCache(defaultCache))
	if err != nil {
		return nil, err
	}
	v := &verifier{ctx: ctx, x: at, expect: x, read: read, seed: x.seed}
	err = v.terms()
	if err == nil {
		err = v.columns()
	}
	if err == nil {
		err = v.documents(docs)
	}
	if err != nil {
		return nil, fmt.Errorf("verify index: %w", err)
	}
	if v.stats != at.m.Stats {
		v.add("statistics are %v, should be %v", at.m.Stats, v.stats)
	}
	return v.found, nil
}

func (v *verifier) add(format string, args ...any) {
	if len(v.found) < maxMismatches {
		v.found = append(v.found, fmt.Sprintf(format, args...))
	}
}

func (v *verifier) addNode(id graph.ID, format string, args ...any) {
	v.add("node %s: %s", id, fmt.Sprintf(format, args...))
}

// word returns a number that stands for a term in a document with its occurrences. The words of a document are added
// up, in any order. The hash has a random key, so no stored data can be made to match it, and chance agreement is
// negligible.
func word[T string | []byte](seed maphash.Seed, term T, tf *[Fields]uint32) uint64 {
	var buf [maxTerm + 4*Fields]byte
	b := append(buf[:0], term...)
	for _, n := range tf {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return maphash.Bytes(seed, b)
}

// terms reads all postings, adding up the words of each document and the df of each term.
func (v *verifier) terms() error {
	all := make([]*mergeTerm, len(v.x.segs))
	dead := make([]segment.Bitset, len(all))
	for i, s := range v.x.segs {
		// Reading the ids proves that there are as many documents as the segment says.
		err := v.x.src.EachID(v.ctx, s, secIDs, func(graph.ID) error { return nil })
		if err != nil {
			return err
		}
		v.words, v.sums = append(v.words, make([]uint64, s.Docs)), append(v.sums, nil)
		v.parts = append(v.parts, make([]*lenPart, (s.Docs+docsPerPart-1)/docsPerPart))
		all[i] = &mergeTerm{i: i}
		all[i].src, all[i].seg = &v.x.src, s
		if dead[i], err = v.x.deadDocs(v.ctx, i); err != nil {
			return err
		}
		if err := all[i].advance(v.ctx); err != nil {
			return err
		}
	}
	var with []*mergeTerm
	for {
		with = leastTerm(with[:0], all)
		if len(with) == 0 {
			v.parts = nil
			return v.titles()
		}
		df, live := 0, 0
		term := string(with[0].term)
		for _, t := range with {
			df += t.count - t.neg
			if strings.HasPrefix(term, titleMark) {
				v.sums[t.i] = appendSums(v.sums[t.i], term)
			}
			n, err := v.postings(t, term, dead[t.i])
			if err != nil {
				return err
			}
			live += n
		}
		if df != live {
			v.add("term %q is in %d nodes, should be in %d", term, df, live)
		}
		for _, t := range with {
			if err := t.advance(v.ctx); err != nil {
				return err
			}
		}
	}
}

// titles compares the sums of the titles of each segment with its terms.
func (v *verifier) titles() error {
	for i, s := range v.x.segs {
		var have []uint32
		for n := range s.Parts(secTitles) {
			p, err := v.x.src.titles(v.ctx, s, n)
			if err != nil {
				return err
			}
			have = append(have, p.sums...)
		}
		slices.Sort(v.sums[i])
		if want := slices.Compact(v.sums[i]); !slices.Equal(want, have) {
			v.add("segment %s has %d sums of titles and beginnings, which are not the %d of its titles",
				s.CID, len(have), len(want))
		}
	}
	return nil
}

// postings reads one term in one segment and returns how many live documents have it. It also
// holds each block against its bounds.
func (v *verifier) postings(t *mergeTerm, term string, dead segment.Bitset) (live int, err error) {
	if err := v.ctx.Err(); err != nil {
		return 0, err
	}
	t.posts.open(t.src, t.seg, t.entry)
	for {
		ok, err := t.posts.next(v.ctx)
		if !ok {
			return live, err
		}
		var real bounds
		for i := range t.posts.n {
			p := &t.posts.posts[i]
			lens := &v.parts[t.i][p.doc/docsPerPart]
			if *lens == nil {
				if *lens, err = t.src.lens(v.ctx, t.seg, int(p.doc/docsPerPart)); err != nil {
					return 0, err
				}
			}
			of := (*lens).at(p.doc, allFields)
			real.add(&p.tf, &of)
			v.words[t.i][p.doc] += word(v.seed, term, &p.tf)
			if !dead.Has(p.doc) {
				live++
			}
		}
		if !t.posts.term && real != t.posts.head.bounds {
			v.add("term %q has a block with bounds %v, should be %v", term,
				t.posts.head.bounds, real)
		}
	}
}

// columns reads all properties, adding up their words for each document.
func (v *verifier) columns() error {
	for i, s := range v.x.segs {
		v.props = append(v.props, make([]uint64, s.Docs))
		for n := range s.Parts(secProps) {
			part, err := v.x.src.props(v.ctx, s, n)
			if err != nil {
				return err
			}
			if err := v.column(i, s, part); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) column(i int, s *segment.Segment, part propPart) error {
	for g := range part {
		for k, doc := range part[g].docs {
			item, err := v.x.src.item(v.ctx, s, part[g].items[k])
			if err != nil {
				return err
			}
			v.props[i][doc] += propWord(v.seed, part[g].name, item)
		}
	}
	return v.ctx.Err()
}

// propWord is to a property what word is to a term.
func propWord(seed maphash.Seed, name string, item []byte) uint64 {
	b := make([]byte, 0, 256)
	b = append(append(append(b, byte(len(name))), name...), item...)
	return maphash.Bytes(seed, b)
}

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
		w.v.addNode(w.at.id, "not in the index")
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
			v.addNode(id, "in the index, but not in the graph")
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
		v.addNode(e.id, "type and times are %+v, should be %+v", got.meta, e.meta)
	}
	if got.lens != e.lens {
		v.addNode(e.id, "fields have %v terms, should have %v", got.lens, e.lens)
	}
	if got.words != e.words {
		v.addNode(e.id, "postings differ from its text")
	}
	if got.props != e.props {
		v.addNode(e.id, "properties differ")
	}
	return nil
}

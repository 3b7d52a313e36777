package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// Constants of mentions in ranking version 1: clause 7.3.
const (
	// maxTitleTerms is the number of terms above which a summary is a sentence and no title.
	maxTitleTerms = 8
	// maxTitleNodes is how many nodes may share a title that still names them.
	maxTitleNodes = 4
	// maxTitleText is how many terms of a text are searched for titles, and maxTitleBytes in how many of its bytes.
	maxTitleText  = 4096
	maxTitleBytes = 32_768
	// maxMentioned is how many nodes a text may mention: the first ones count.
	maxMentioned = 256
)

// titleMark begins the dictionary key of a title; no term of the analyser has its byte.
const titleMark = "\x00"

// Title returns the terms of a summary that is a title, nil for any other: 1 to 8 terms, without
// what a pair of brackets adds at its end, as in "Toto (band)".
func Title(a *text.Analyzer, summary string) []string {
	if at := strings.LastIndex(summary, " ("); at > 0 && strings.HasSuffix(summary, ")") {
		summary = summary[:at]
	}
	var terms []string
	a.Each(summary, func(term string) bool {
		terms = append(terms, term)
		return len(terms) <= maxTitleTerms
	})
	if len(terms) > maxTitleTerms || len(titleKey(terms)) > maxTerm {
		return nil
	}
	return terms
}

// titleKey is the dictionary key of a title: a mark before each term.
func titleKey(terms []string) string { return string(appendTitle(nil, terms)) }

func appendTitle(b []byte, terms []string) []byte {
	for _, term := range terms {
		b = append(append(b, titleMark...), term...)
	}
	return b
}

// TitlesIn returns the nodes whose titles stand in a text, ascending. A title stands where its
// terms follow each other among those of the text.
func (x *Index) TitlesIn(ctx context.Context, s string) ([]graph.ID, error) {
	longer, single, err := x.Mentioned(ctx, s)
	if err != nil {
		return nil, err
	}
	return sortedIDs(append(longer, single...)), nil
}

// Mentioned returns the nodes whose title's terms a text has, those with one term separately: most of them are words that
// a text may have without meaning the title.
func (x *Index) Mentioned(ctx context.Context, s string) (longer, single []graph.ID, err error) {
	words := titleRooms.Get().(*titleRoom)
	defer words.leave()
	x.analyser.Each(text.FirstBytes(s, maxTitleBytes), func(term string) bool {
		words.terms, words.sums = append(words.terms, term), append(words.sums, termSum(term))
		return len(words.terms) < maxTitleText
	})
	find, err := x.titleFinder(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer find.leave()
	err = find.eachIn(words.sums, func(at, n int, h titleSum) (bool, error) {
		words.key = appendTitle(words.key[:0], words.terms[at:at+n])
		named, err := x.named(find, words.key, h)
		if err == nil && !words.seen[named.key] {
			words.seen[named.key] = true
			list, left := &longer, maxMentioned-len(longer)-len(single)
			if n == 1 {
				list = &single
			}
			*list = append(*list, named.ids[:min(left, len(named.ids))]...)
		}
		return len(longer)+len(single) < maxMentioned, err
	})
	return longer, single, err
}

// titleRoom is the memory in which titles are looked for in a text, which the next one takes over.
type titleRoom struct {
	terms []string
	sums  []uint64
	seen  map[string]bool
	key   []byte
}

var titleRooms = sync.Pool{New: func() any { return &titleRoom{seen: map[string]bool{}} }}

func (r *titleRoom) leave() {
	clear(r.terms)
	clear(r.seen)
	clear(r.key[:cap(r.key)])
	r.terms, r.sums = r.terms[:0], r.sums[:0]
	titleRooms.Put(r)
}

func sortedIDs(ids []graph.ID) []graph.ID {
	slices.SortFunc(ids, graph.ID.Compare)
	return slices.Compact(ids)
}

type titleNodes struct {
	key string
	ids []graph.ID // ascending, none if they are too many
}

// named is titled, from memory if it can be.
func (x *Index) named(find *titleFinder, key []byte, h titleSum) (*titleNodes, error) {
	if t := x.titles.get(uint64(h)); t != nil && t.key == string(key) {
		return t, nil
	}
	t := &titleNodes{key: string(key)}
	var err error
	if t.ids, err = find.titled(t.key, h); err != nil {
		return nil, err
	}
	x.titles.put(uint64(h), t)
	return t, nil
}

// entries returns what the segments have of a title, and how many live nodes have it.
func (f *titleFinder) entries(key string, h titleSum) (entries []entry, df int, err error) {
	entries = make([]entry, len(f.segs))
	for n := range f.segs {
		e, err := f.term(n, key, h)
		if err != nil {
			return nil, 0, err
		}
		entries[n] = e
		df += e.count - e.neg
	}
	if df < 0 {
		return nil, 0, segment.Corrupt("title %q in %d nodes", key, df)
	}
	return entries, df, nil
}

// titled returns the live nodes with a title in ascending order, none if they are too many.
func (f *titleFinder) titled(key string, h titleSum) ([]graph.ID, error) {
	entries, df, err := f.entries(key, h)
	if err != nil || df == 0 || df > maxTitleNodes {
		return nil, err
	}
	var ids []graph.ID
	for n := range f.segs {
		err := f.x.each(f.ctx, n, entries[n], func(v *view, p *posting, _ byte) error {
			id, err := v.id(p.doc)
			ids = append(ids, id)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sortedIDs(ids), nil
}

// each calls fn with the postings of live documents of a segment's term, ascending.
func (x *Index) each(ctx context.Context, n int, e entry, fn func(v *view, p *posting, mask byte) error) error {
	if e.count == 0 {
		return nil
	}
	v, err := x.view(ctx, n)
	if err != nil {
		return err
	}
	r := termReaders.Get().(*termReader)
	defer r.leave()
	r.open(&x.src, x.segs[n], e)
	for {
		ok, err := r.next(ctx)
		if !ok {
			return err
		}
		for i := range r.posts[:r.n] {
			if v.dead.Has(r.posts[i].doc) {
				continue
			}
			if err := fn(v, &r.posts[i], r.masks[i]); err != nil {
				return err
			}
		}
	}
}

// Mentioning returns live documents, ascending, whose contents have all the terms of the title that
// a summary is: all that have the title are among them. There are none if the summary is no
// title, too many nodes have it, or each of its terms is in more than most documents.
func (x *Index) Mentioning(ctx context.Context, summary string, most int) (ids []graph.ID, err error) {
	title := Title(x.analyser, summary)
	if title == nil {
		return nil, nil
	}
	// The terms first: they are in few parts of the dictionary, titles in many, and most titles are too
	// common by their terms.
	terms, err := x.rarestFirst(ctx, title)
	if err != nil || len(terms) == 0 || terms[0].df > int64(most) {
		return nil, err
	}
	find, err := x.titleFinder(ctx)
	if err != nil {
		return nil, err
	}
	defer find.leave()
	if _, df, err := find.entries(titleKey(title), sumOf(title)); err != nil || df == 0 || df > maxTitleNodes {
		return nil, err
	}
	err = x.eachWithAll(ctx, terms, 1<<FieldContent, func(v *view, doc uint32) error {
		id, err := v.id(doc)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return sortedIDs(ids), nil
}

// WithTerms returns the live documents, ascending, that have each of some terms, in any field, and that accept accepts;
// accept may be nil. If there are more than most, it returns none and true. It walks the postings of the rarest term and
// looks up the others at each step.
func (x *Index) WithTerms(
	ctx context.Context, terms []string, accept Accept, most int,
) (ids []graph.ID, many bool, err error) {
	list, err := x.rarestFirst(ctx, terms)
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	err = x.eachWithAll(ctx, list, allFields, func(v *view, doc uint32) error {
		ok, err := v.passes(accept, doc)
		if err != nil || !ok {
			return err
		}
		if len(ids) == most {
			return errStop
		}
		id, err := v.id(doc)
		ids = append(ids, id)
		return err
	})
	if err == errStop {
		return nil, true, nil
	}
	return sortedIDs(ids), false, err
}

const allFields = 1<<Fields - 1

// rarestFirst looks up the distinct ones of some terms, nil if no live document has one of them.
func (x *Index) rarestFirst(ctx context.Context, terms []string) ([]queryTerm, error) {
	list := make([]queryTerm, 0, len(terms))
	room := make(entryRoom, len(terms)*len(x.segs))
	for _, term := range terms {
		if slices.ContainsFunc(list, func(t queryTerm) bool { return t.Term == term }) {
			continue
		}
		found, err := x.look(ctx, QueryTerm{Term: term, As: term, Times: 1, Weight: fixed.One}, &room)
		if err != nil || found.entries == nil {
			return nil, err
		}
		list = append(list, found)
	}
	slices.SortStableFunc(list, func(a, b queryTerm) int { return cmp.Compare(a.df, b.df) })
	return list, nil
}

// eachWithAll calls fn with the live documents that have each term of a list in one of some fields, segment by segment.
func (x *Index) eachWithAll(
	ctx context.Context, list []queryTerm, fields byte, fn func(v *view, doc uint32) error,
) error {
	for n := range x.segs {
		others := make([]*termReader, len(list)-1)
		for i := range others {
			others[i] = termReaders.Get().(*termReader)
			others[i].open(&x.src, x.segs[n], list[i+1].entries[n])
		}
		err := x.each(ctx, n, list[0].entries[n], func(v *view, p *posting, mask byte) error {
			has := mask&fields != 0
			for i := 0; has && i < len(others); i++ {
				r := others[i]
				ok, err := r.seek(ctx, p.doc)
				if err != nil {
					return err
				}
				has = ok && r.posts[r.i].doc == p.doc && r.masks[r.i]&fields != 0
			}
			if !has {
				return nil
			}
			return fn(v, p.doc)
		})
		for _, r := range others {
			r.leave()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type namedTitle struct {
	key    string
	sum    titleSum
	places []int // of its terms among the distinct terms of the text, in its order, each once
}

// TitlesNamed returns for each node whose title the text has, with its terms some read as others,
// the places of the title's terms among the distinct terms of the text: nil for any other node. It
// looks titles up by the terms of the text and reads no node.
func (q *QueryText) TitlesNamed(ctx context.Context, readings []Reading, ids []graph.ID) ([][]int, error) {
	out := make([][]int, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	find, err := q.x.titleFinder(ctx)
	if err != nil {
		return nil, err
	}
	defer find.leave()
	titles, err := q.titles(find, readings)
	if err != nil || len(titles) == 0 {
		return out, err
	}
	entries := make([][]entry, len(titles))
	for i, t := range titles {
		if entries[i], _, err = find.entries(t.key, t.sum); err != nil {
			return nil, err
		}
	}
	for n := range q.x.segs {
		docs, err := q.x.liveDocs(ctx, n, ids)
		if err != nil {
			return nil, err
		}
		for i, t := range titles {
			err := q.x.eachOf(ctx, n, entries[i][n], docs, func(d placedDoc, _ *posting, _ byte) error {
				out[d.at] = t.places
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// eachOf calls fn with those of some documents of a segment, ascending, that a term has, and with their postings.
func (x *Index) eachOf(
	ctx context.Context, n int, e entry, docs []placedDoc, fn func(d placedDoc, p *posting, mask byte) error,
) error {
	if e.count == 0 {
		return nil
	}
	r := termReaders.Get().(*termReader)
	defer r.leave()
	r.open(&x.src, x.segs[n], e)
	for _, d := range docs {
		ok, err := r.seek(ctx, d.doc)
		if ok && r.posts[r.i].doc == d.doc {
			err = fn(d, &r.posts[r.i], r.masks[r.i])
		}
		if !ok || err != nil {
			return err
		}
	}
	return nil
}

// titles returns the titles that a text may have, each once, and hardly any other runs of its words.
func (q *QueryText) titles(find *titleFinder, readings []Reading) ([]namedTitle, error) {
	terms := q.Query(readings)
	first := make([]int, len(terms)) // of each term the place of the first that is read as the same
	places := make(map[string]int, len(terms))
	for i := range terms {
		at, ok := places[terms[i].As]
		if !ok {
			at = i
			places[terms[i].As] = i
		}
		first[i] = at
	}
	words := q.titledTerms()
	sums := make([]uint64, len(words))
	for i, t := range words {
		if t >= 0 {
			sums[i] = termSum(terms[t].As)
		}
	}
	var found []namedTitle
	seen := make(map[string]bool)
	err := find.eachIn(sums, func(at, n int, h titleSum) (bool, error) {
		title := make([]string, n)
		for i, t := range words[at : at+n] {
			title[i] = terms[t].As
		}
		if key := titleKey(title); !seen[key] {
			seen[key] = true
			found = append(found, namedTitle{key, h, compactPlaces(first, words[at:at+n])})
		}
		return true, nil
	})
	return found, err
}

// compactPlaces returns the places that some terms first have, in order, each once.
func compactPlaces(first []int, terms []int32) []int {
	var out []int
	for _, t := range terms {
		if at := first[t]; !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

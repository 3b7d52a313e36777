package index

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
)

// Constants of mentions in ranking version 1: clause 7.3.
const (
	// maxTitleTerms is the number of terms above which a summary is a sentence and no title.
	maxTitleTerms = 8
	// maxTitleNodes is how many nodes may share a title that still names them.
	maxTitleNodes = 4
	// maxTitleText is how many terms of a text are searched for titles, and maxTitleBytes in how
	// many of its bytes.
	maxTitleText  = 4096
	maxTitleBytes = 32_768
	// maxMentioned is how many nodes a text may mention: the first ones count.
	maxMentioned = 256
)

// beginning returns the part of a text in which titles count, without a character that is cut.
func beginning(s string) string {
	if len(s) <= maxTitleBytes {
		return s
	}
	n := maxTitleBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

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
func titleKey(terms []string) string { return titleMark + strings.Join(terms, titleMark) }

// TitlesIn returns the nodes whose titles stand in a text, ascending. A title stands where its
// terms follow each other among those of the text.
func (x *Index) TitlesIn(ctx context.Context, s string) ([]graph.ID, error) {
	var terms []string
	x.analyser.Each(beginning(s), func(term string) bool {
		terms = append(terms, term)
		return len(terms) < maxTitleText
	})
	seen := make(map[string]bool)
	var ids []graph.ID
	key := make([]byte, 0, maxTerm)
	for i := range terms {
		key = key[:0]
		for n := 0; n < maxTitleTerms && i+n < len(terms); n++ {
			if key = append(append(key, titleMark...), terms[i+n]...); len(key) > maxTerm {
				break
			}
			at, err := x.titleAt(ctx, key)
			if err != nil {
				return nil, err
			}
			if at.exact && !seen[at.key] {
				seen[at.key] = true
				named, err := x.titled(ctx, at.key)
				if err != nil {
					return nil, err
				}
				if ids = append(ids, named...); len(ids) >= maxMentioned {
					ids = ids[:maxMentioned]
					return sortedIDs(ids), nil
				}
			}
			if !at.longer {
				break
			}
		}
	}
	return sortedIDs(ids), nil
}

func sortedIDs(ids []graph.ID) []graph.ID {
	slices.SortFunc(ids, graph.ID.Compare)
	return slices.Compact(ids)
}

// titleAt is what an index has at a key of a title.
type titleAt struct {
	key    string
	exact  bool // whether a title may have this very key
	longer bool // whether longer titles begin with it
}

// titleSlots is how many keys of titles an index remembers, in about a megabyte: of the words of
// texts, a few are most.
const titleSlots = 1 << 14

// titleMemo remembers keys that were looked up, each in the one slot where it may be. Safe for
// concurrent use.
type titleMemo [titleSlots]atomic.Pointer[titleAt]

// slot returns that of a key, by FNV-1a.
func (m *titleMemo) slot(key []byte) *atomic.Pointer[titleAt] {
	h := uint32(2_166_136_261)
	for _, b := range key {
		h = (h ^ uint32(b)) * 16_777_619
	}
	return &m[(h^h>>16)%titleSlots]
}

// titleAt looks a key of a title up.
func (x *Index) titleAt(ctx context.Context, key []byte) (*titleAt, error) {
	slot := x.titles.slot(key)
	if at := slot.Load(); at != nil && at.key == string(key) {
		return at, nil
	}
	at := &titleAt{key: string(key)}
	for _, s := range x.segs {
		e, l, err := x.src.titleAt(ctx, s, at.key)
		if err != nil {
			return nil, err
		}
		at.exact, at.longer = at.exact || e, at.longer || l
	}
	slot.Store(at)
	return at, nil
}

// titled returns the live nodes with a title in ascending order, none if they are too many.
func (x *Index) titled(ctx context.Context, key string) ([]graph.ID, error) {
	entries := make([]entry, len(x.segs))
	df := 0
	for n, s := range x.segs {
		e, _, err := x.src.term(ctx, s, key)
		if err != nil {
			return nil, err
		}
		entries[n] = e
		df += e.count - e.neg
	}
	if df < 0 {
		return nil, corrupt("title %q in %d nodes", key, df)
	}
	if df > maxTitleNodes {
		return nil, nil
	}
	var ids []graph.ID
	for n := range x.segs {
		err := x.each(ctx, n, entries[n], func(v *view, p *posting, _ byte) error {
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
func (x *Index) each(
	ctx context.Context, n int, e entry, fn func(v *view, p *posting, mask byte) error,
) error {
	if e.count == 0 {
		return nil
	}
	v, err := x.view(ctx, n)
	if err != nil {
		return err
	}
	var r postReader
	r.open(&x.src, x.segs[n], e)
	for {
		ok, err := r.next(ctx)
		if !ok {
			return err
		}
		for i := range r.posts[:r.n] {
			if v.dead.has(r.posts[i].doc) {
				continue
			}
			if err := fn(v, &r.posts[i], r.masks[i]); err != nil {
				return err
			}
		}
	}
}

// Mentioning returns live documents, ascending, whose contents have all the terms of the title that
// a summary is: all that have the title are among them. There are none where the summary is no
// title, too many nodes have it, or each of its terms is in more than most documents.
func (x *Index) Mentioning(
	ctx context.Context, summary string, most int,
) (ids []graph.ID, err error) {
	title := Title(x.analyser, summary)
	if title == nil {
		return nil, nil
	}
	if named, err := x.titled(ctx, titleKey(title)); err != nil || named == nil {
		return nil, err
	}
	terms, err := x.rarestFirst(ctx, title)
	if err != nil || len(terms) == 0 || terms[0].df > int64(most) {
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

package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
)

// A search for similar texts costs the same however large the memory is: it looks for the rarest words,
// maxQuery at most, and beyond leastQuery only while all together are in maxHave memories.
const (
	MaxQuery   = 24
	leastQuery = 4
	MaxHave    = 2048
	maxCounts  = 1 << 16 // of terms that are kept
)

// RareWords picks the words of texts that few nodes of a snapshot have, to search for similar memories.
type RareWords struct {
	ctx    context.Context
	s      *core.Snapshot
	terms  *text.Analyzer
	counts map[string]int64 // of nodes that have a term
	nodes  int64            // that there are, once terms were counted
	own    map[string]bool  // terms of the one node that counts as missing, nil for none
}

func NewRareWords(ctx context.Context, s *core.Snapshot, terms *text.Analyzer) *RareWords {
	return &RareWords{ctx: ctx, s: s, terms: terms, counts: map[string]int64{}}
}

// Query returns the words of a text to search for: the rarest of those that the memory has, "" for
// none.
func (w *RareWords) Query(text string) (string, error) {
	words, terms := w.Words(text)
	counts, err := w.having(terms)
	if err != nil {
		return "", err
	}
	order := make([]int, 0, len(terms))
	for i, n := range counts {
		if n > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b))
	})
	query, have := "", int64(0)
	for n, i := range order[:min(MaxQuery, len(order))] {
		if have += counts[i]; n >= leastQuery && have > MaxHave {
			break
		}
		query += words[i] + " "
	}
	return query, nil
}

// having returns how many nodes have each term. It looks up each term once for all memories of a call, and bounds the
// cached counts.
func (w *RareWords) having(terms []string) ([]int64, error) {
	if len(w.counts) > maxCounts {
		clear(w.counts)
	}
	var missing []string
	for _, term := range terms {
		if _, ok := w.counts[term]; !ok {
			missing = append(missing, term)
		}
	}
	if len(missing) > 0 {
		found, nodes, err := rank.TermCounts(w.ctx, w.s, missing)
		if err != nil {
			return nil, err
		}
		w.nodes = nodes
		for i, term := range missing {
			w.counts[term] = found[i]
		}
	}
	out := make([]int64, len(terms))
	for i, term := range terms {
		if out[i] = w.counts[term]; w.own[term] {
			out[i] = max(0, out[i]-1)
		}
	}
	return out, nil
}

// except excludes a node of the snapshot with some terms from the counts, nil for none.
func (w *RareWords) except(terms []string) {
	w.own = nil
	if len(terms) > 0 {
		w.own = make(map[string]bool, len(terms))
	}
	for _, term := range terms {
		w.own[term] = true
	}
}

// Words returns the distinct terms of a text in the order of their first occurrence, each with a word that has the
// term.
func (w *RareWords) Words(text string) (words, terms []string) {
	seen := map[string]bool{}
	w.terms.EachWord(text, func(word string, _ bool) bool {
		if term, ok := w.terms.WordTerm(word); ok && !seen[term] {
			seen[term] = true
			words, terms = append(words, word), append(terms, term)
		}
		return true
	})
	return words, terms
}

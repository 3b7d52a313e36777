package stage

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
)

// Constants of similarity in ranking version 1: clauses 11.2 and 11.3.
const (
	maxCompared = 8192   // scalars that count of each of a node's texts
	duplicateAt = 58_982 // 0.9 in Q16
)

type features struct {
	node  *graph.Node
	state graph.State // of its mark, "" for none
	terms []uint32    // distinct terms, ascending
	words []uint32    // words in text order
	signs []uint32    // distinct telling words, ascending
}

// extractor reads features. It gives each distinct term and word a number.
type extractor struct {
	g       source.Graph
	numbers map[string]uint32
}

// features returns the features of a node and its mark, which may be nil.
func (r *request) features(ctx context.Context, n *graph.Node, m *graph.Mark) (*features, error) {
	if r.extractor == nil {
		r.extractor = &extractor{g: r.g, numbers: map[string]uint32{}}
	}
	return r.extractor.features(ctx, n, m)
}

func (e *extractor) number(s string) uint32 {
	n, ok := e.numbers[s]
	if !ok {
		n = uint32(len(e.numbers))
		e.numbers[s] = n
	}
	return n
}

// features reads the inputs other than the node itself.
func (e *extractor) features(ctx context.Context, n *graph.Node, m *graph.Mark) (*features, error) {
	out := &features{node: n}
	if m != nil {
		out.state = m.State
	}
	texts, err := comparedTexts(ctx, e.g, n)
	if err != nil {
		return nil, err
	}
	for _, s := range texts {
		text.English.Each(s, func(term string) bool {
			out.terms = append(out.terms, e.number(term))
			return true
		})
		text.English.EachWord(s, func(word string, telling bool) bool {
			n := e.number(word)
			out.words = append(out.words, n)
			if telling {
				out.signs = append(out.signs, n)
			}
			return true
		})
	}
	out.terms = distinct(out.terms)
	out.signs = distinct(out.signs)
	return out, nil
}

// comparedTexts returns what counts of a node's summary, context and content.
func comparedTexts(ctx context.Context, g source.Graph, n *graph.Node) (texts [3]string, err error) {
	texts = [3]string{n.Summary, n.Context, ""}
	if n.Content != nil {
		texts[2], err = g.ContentStart(ctx, n.Content, maxCompared*utf8.UTFMax)
		if err != nil {
			return texts, fmt.Errorf("read content of %s: %w", n.ID, err)
		}
	}
	for i, s := range texts {
		texts[i] = text.FirstScalars(s, maxCompared)
	}
	return texts, nil
}

func distinct(list []uint32) []uint32 {
	slices.Sort(list)
	return slices.Compact(list)
}

// similarity returns the share that two ascending lists have in common of what either has, in Q16: 0 if both are empty.
func similarity(a, b []uint32) int64 {
	both, either := int64(0), int64(len(a)+len(b))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both++
			i++
			j++
		}
	}
	if either -= both; either == 0 {
		return 0
	}
	return both * fixed.One / either
}

// repeats reports whether two nodes say the same: clause 11.3. The cheap questions come first.
func (p *features) repeats(o *features) bool {
	short, long := int64(len(p.terms)), int64(len(o.terms))
	if short > long {
		short, long = long, short
	}
	// Two lists have at most as much in common as the shorter one has, relative to the longer one.
	if long == 0 || short*fixed.One/long < duplicateAt {
		return false
	}
	a, b := p.node, o.node
	return a.Type == b.Type && p.state == o.state &&
		a.ValidFrom == b.ValidFrom && a.ValidTo == b.ValidTo && agree(a.Props, b.Props) &&
		similarity(p.terms, o.terms) >= duplicateAt && sameTelling(p, o)
}

// agree reports whether no property that both lists have differs.
func agree(a, b []ipld.Entry) bool {
	for _, e := range a {
		if v, ok := ipld.FindEntry(b, e.Key); ok && !v.Equal(e.Value) {
			return false
		}
	}
	return true
}

// sameTelling reports whether the words that are telling in either text are the same in both, in the same order.
func sameTelling(a, b *features) bool {
	telling := func(word uint32) bool {
		_, inA := slices.BinarySearch(a.signs, word)
		_, inB := slices.BinarySearch(b.signs, word)
		return inA || inB
	}
	next := func(words []uint32) (word uint32, rest []uint32, ok bool) {
		for i, w := range words {
			if telling(w) {
				return w, words[i+1:], true
			}
		}
		return 0, nil, false
	}
	restA, restB := a.words, b.words
	for {
		var wordA, wordB uint32
		var moreA, moreB bool
		wordA, restA, moreA = next(restA)
		wordB, restB, moreB = next(restB)
		if moreA != moreB || wordA != wordB {
			return false
		}
		if !moreA {
			return true
		}
	}
}

// Marginal returns which of some texts come first by maximal marginal relevance, at most most, by
// their places in the list: those of first in their order, then each time the one with the greatest
//
//	lambda · relevance − (65,536 − lambda) · nearest
//
// of several the first in the list: clause 11.3. relevance and lambda are in units of 2^-16, terms the numbers of a
// text's distinct terms, ascending, and nearest the greatest similarity (clause 11.2) to one that comes before.
func Marginal(relevance []int64, terms [][]uint32, first []int, lambda int64, most int) []int {
	out := make([]int, 0, len(relevance))
	nearest := make([]int64, len(relevance))
	done := make([]bool, len(relevance))
	pick := func(at int) {
		out = append(out, at)
		done[at] = true
		for i := range relevance {
			if !done[i] {
				nearest[i] = max(nearest[i], similarity(terms[i], terms[at]))
			}
		}
	}
	for _, at := range first {
		pick(at)
	}
	for len(out) < min(most, len(relevance)) {
		best, value := -1, int64(0)
		for i := range relevance {
			if done[i] {
				continue
			}
			v := lambda*relevance[i] - (fixed.One-lambda)*nearest[i]
			if best < 0 || v > value {
				best, value = i, v
			}
		}
		pick(best)
	}
	return out
}

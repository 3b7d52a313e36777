package retrieve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
)

// MaxSummarize is the largest number of sentences of a summary.
const MaxSummarize = 50

// Constants of summaries in ranking version 1: clause 20.3.
const (
	maxSentences  = 2000   // that a summary is chosen from
	maxSentence   = 500    // scalars of one of them
	summaryLambda = 45_875 // share of relevance, 0.7 in Q16
	askedWeight   = 2      // of a term of the query, others having 1
)

// Sentence is one sentence of a summary.
type Sentence struct {
	ID   graph.ID // of the item that it is from
	Text string   // as it is shown: one line
}

// Summary is the sentences of an answer that say most of it.
type Summary struct {
	Sentences []Sentence // in the order of the items and their texts
	Rendered  string     // lines, each with its line end; "" for no sentence
	Tokens    int        // of Rendered, which do not count for the budget
}

// quoted is a sentence that may become part of a summary.
type quoted struct {
	id    graph.ID
	text  string
	terms []uint32 // distinct, ascending
	near  int64    // the greatest similarity to a sentence that was chosen
	taken bool
}

// summarize chooses the sentences of the packed items that are nearest to all of them together and
// unlike each other.
func (r *run) summarize(ctx context.Context, a *Answer) error {
	if r.req.Summarize == 0 {
		return nil
	}
	list, err := r.sentences(ctx, a.Items)
	if err != nil {
		return err
	}
	pick(list, r.relevance(list), r.req.Summarize)
	s := &Summary{}
	var b strings.Builder
	for _, q := range list {
		if !q.taken {
			continue
		}
		one := Sentence{q.id, text.EscapeLine(q.text)}
		if s.Sentences = append(s.Sentences, one); b.Len() == 0 {
			b.WriteString("Summary:\n")
		}
		fmt.Fprintf(&b, "  %s: %s\n", one.ID, one.Text)
	}
	s.Rendered = b.String()
	s.Tokens = text.EstimateTokens(s.Rendered)
	a.Summary = s
	return nil
}

// sentences returns the sentences of the texts that items show, each once, and only those with a
// term.
func (r *run) sentences(ctx context.Context, items []Item) ([]*quoted, error) {
	var list []*quoted
	seen := map[string]bool{}
	for _, item := range items {
		texts, err := r.shownTexts(ctx, item.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range texts {
			text.EachSentence(s, maxSentence, func(at text.Sentence) bool {
				one := s[at.Start:at.End]
				if seen[one] {
					return true
				}
				seen[one] = true
				if terms := r.extractor.termsOf(one); len(terms) > 0 {
					list = append(list, &quoted{id: item.ID, text: one, terms: terms})
				}
				return len(list) < maxSentences
			})
			if len(list) == maxSentences {
				return list, nil
			}
		}
	}
	return list, nil
}

// shownTexts returns the beginnings of the texts that are shown of a node, in their order.
func (r *run) shownTexts(ctx context.Context, id graph.ID) ([]string, error) {
	n, _, err := r.g.Node(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", id, err)
	}
	if err := r.startFeatures(); err != nil {
		return nil, err
	}
	texts := []string{n.Context, n.Summary}
	if n.Content != nil && (isChunk(n) || slices.Contains(r.req.Show, ShowContent)) {
		content, err := r.g.ContentStart(ctx, n.Content, maxCompared*utf8.UTFMax)
		if err != nil {
			return nil, fmt.Errorf("read content of %s: %w", id, err)
		}
		texts = append(texts, content)
	}
	most := maxCompared
	if textCap := *r.req.SummaryCap; textCap > 0 {
		most = min(most, textCap)
	}
	for i, s := range texts {
		texts[i] = text.FirstScalars(s, most)
	}
	return texts, nil
}

// termsOf returns the numbers of the distinct terms of a text, ascending.
func (e *extractor) termsOf(s string) []uint32 {
	var terms []uint32
	e.analyser.Each(s, func(term string) bool {
		terms = append(terms, e.number(term))
		return true
	})
	return distinct(terms)
}

// relevance returns the cosine of each sentence with the sum of all, in which terms of the query
// weigh more: in units of 2^-16.
func (r *run) relevance(list []*quoted) []int64 {
	if len(list) == 0 {
		return nil
	}
	asked := r.extractor.termsOf(r.req.Text)
	weights := make([]int64, len(r.extractor.numbers))
	for _, q := range list {
		for _, t := range q.terms {
			weights[t]++
		}
	}
	for _, t := range asked {
		weights[t] *= askedWeight
	}
	squares := uint64(0)
	for _, w := range weights {
		squares += uint64(w * w)
	}
	out := make([]int64, len(list))
	for i, q := range list {
		for _, t := range q.terms {
			out[i] += weights[t]
		}
		// At most 1,000 terms of 2^12 each; at most 2^21 squares of 2^24 each.
		out[i] = out[i] * fixed.One / int64(fixed.Isqrt(uint64(len(q.terms))*squares))
	}
	return out
}

// pick takes k sentences by maximal marginal relevance.
func pick(list []*quoted, relevance []int64, k int) {
	if len(list) == 0 {
		return
	}
	top := max(1, slices.Max(relevance))
	for range min(k, len(list)) {
		var best *quoted
		most := int64(0)
		for i, q := range list {
			if q.taken {
				continue
			}
			v := summaryLambda*(relevance[i]*fixed.One/top) - (fixed.One-summaryLambda)*q.near
			if best == nil || v > most {
				best, most = q, v
			}
		}
		best.taken = true
		for _, q := range list {
			if !q.taken {
				q.near = max(q.near, similarity(q.terms, best.terms))
			}
		}
	}
}

package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
)

// MaxFeedback is the largest number of nodes that a query may be widened by.
const MaxFeedback = 20

// Constants of feedback in ranking version 1: clause 9.11.
const (
	maxFeedbackTerms = 32            // that are added
	maxFeedbackSeen  = 256           // that may be: no more are looked up
	feedbackShare    = fixed.One / 8 // of what the text's own terms weigh, for all added together
	feedbackScale    = 256           // of the shares of terms, so that rare ones are not rounded away
)

// AddedTerm is a term that a query is widened by: a kindred one, or one of the best nodes of a first search.
type AddedTerm struct {
	Term   string
	Weight int64 // in units of 2^-16, 1 to 65,536; a word of the query counts 65,536
}

// feedback returns the terms that the best nodes add to the text, the weightiest first: RM3, in
// integers.
func (r *run) feedback(ctx context.Context, query TextQuery, hits []Hit) ([]AddedTerm, error) {
	own, err := r.x.TermWeights(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("weigh the terms of the text: %w", err)
	}
	all, asked := int64(0), make(map[string]bool, len(own)) // all is below 2^39
	for _, t := range own {
		all += t.Weight
		asked[t.Term] = true
	}
	terms, err := r.telling(ctx, hits[:min(r.req.Feedback, len(hits))], asked)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = t.term
	}
	idfs, err := r.x.IDFs(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("weigh terms of the best nodes: %w", err)
	}
	for i := range terms {
		terms[i].score = terms[i].share * idfs[i]
	}
	slices.SortFunc(terms, func(a, b tellingTerm) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.term, b.term))
	})
	return weighFeedback(terms[:min(len(terms), maxFeedbackTerms)], all), nil
}

// weighFeedback gives terms weights in proportion to their shares, so that together they can add to
// a score at most feedbackShare of what all terms of the text can.
func weighFeedback(terms []tellingTerm, all int64) []AddedTerm {
	sum := int64(0)
	for _, t := range terms {
		sum += t.score
	}
	var out []AddedTerm
	for _, t := range terms {
		w := fixed.MulDivSat(uint64(all)*feedbackShare, uint64(t.share), uint64(sum))
		if w = min(w, fixed.One); t.score > 0 && w > 0 {
			out = append(out, AddedTerm{t.term, int64(w)})
		}
	}
	return out
}

// tellingTerm is a term of the best nodes.
type tellingTerm struct {
	term  string
	share int64 // how much of these nodes it is, below 2^29
	score int64 // that times its idf, below 2^52
}

// telling returns the terms that make up the most of the texts of nodes, without those asked for.
func (r *run) telling(
	ctx context.Context, hits []Hit, asked map[string]bool,
) ([]tellingTerm, error) {
	a, err := text.New(Language)
	if err != nil {
		return nil, err
	}
	shares := map[string]int64{}
	for _, h := range hits {
		n, _, err := r.g.Node(ctx, h.ID)
		if err != nil {
			return nil, fmt.Errorf("read node %s: %w", h.ID, err)
		}
		texts, err := comparedTexts(ctx, r.g, n)
		if err != nil {
			return nil, err
		}
		times, length := map[string]int64{}, int64(0)
		for _, s := range texts {
			a.Each(s, func(term string) bool {
				times[term]++
				length++
				return true
			})
		}
		score := share(h.Score, hits[0].Score)
		for term, n := range times {
			if !asked[term] {
				shares[term] += score * n * feedbackScale / length
			}
		}
	}
	terms := make([]tellingTerm, 0, len(shares))
	for term, n := range shares {
		terms = append(terms, tellingTerm{term: term, share: n})
	}
	slices.SortFunc(terms, func(a, b tellingTerm) int {
		return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.term, b.term))
	})
	return terms[:min(len(terms), maxFeedbackSeen)], nil
}

// NoFeedback warns that feedback was asked for and added nothing: clause 11.1.
const NoFeedback Code = "no_feedback"

// feedbackInfos documents the code of this file.
var feedbackInfos = []WarningInfo{{
	Code:    NoFeedback,
	When:    "feedback was asked for, and the best nodes have no term to add to the text",
	Message: "feedback added nothing: no node was found by the text, or none has other words than it",
	Remedy:  "ask for a text, widen the filters, or leave --feedback out",
}}

// feedbackWarnings returns the warning of this file.
func (r *run) feedbackWarnings() []Warning {
	if r.req.Feedback == 0 || len(r.added) > 0 {
		return nil
	}
	return []Warning{{Code: NoFeedback}}
}

package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
)

// Constants of kindred terms in ranking version 2: clause 9.12. Its row says what a kindred term weighs.
const (
	maxKin   = 1024 // that are looked up for a text
	kinShare = 26_214
)

// kin is the kindred terms of a text that some node has: what a question may be told by in other words.
type kin struct {
	terms []AddedTerm
	of    [][]int // for each of them the places of those terms of the text that it is kindred to
}

// kinOf says what kin is of: readings are those of the request's text.
type kinOf struct {
	text string
	read bool
}

// kin finds the kindred terms of a text. None weighs more than its ranking gives it of what the rarest term
// weighs that it is kindred to, so that a rare one does not outweigh what was asked.
func (r *run) kin(ctx context.Context, query TextQuery) (*kin, error) {
	of := kinOf{query.Text, len(query.Readings) > 0}
	if k := r.kinOf[of]; k != nil {
		return k, nil
	}
	k := &kin{}
	if r.req.row().kin > 0 {
		var err error
		if k, err = r.findKin(ctx, query); err != nil {
			return nil, err
		}
	}
	if r.kinOf == nil {
		r.kinOf = map[kinOf]*kin{}
	}
	r.kinOf[of] = k
	return k, nil
}

func (r *run) findKin(ctx context.Context, query TextQuery) (*kin, error) {
	out := &kin{}
	a, err := text.New(Language)
	if err != nil {
		return nil, err
	}
	own, err := r.x.TermWeights(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("weigh the terms of the text: %w", err)
	}
	asked := make(map[string]bool, len(own))
	for _, t := range own {
		asked[t.Term] = true
	}
	at := map[string]int{}
	var names []string
	var of [][]int
	for i, t := range own {
		for _, s := range a.Kin(t.Term) {
			n, ok := at[s]
			if asked[s] || !ok && len(names) == maxKin {
				continue
			}
			if !ok {
				n = len(names)
				at[s] = n
				names, of = append(names, s), append(of, nil)
			}
			of[n] = append(of[n], i)
		}
	}
	idfs, err := r.x.IDFs(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("weigh kindred terms: %w", err)
	}
	for n, name := range names {
		if idfs[n] == 0 {
			continue
		}
		most := int64(0)
		for _, i := range of[n] {
			if own[i].Weight == 0 { // no node has it: it would be the rarest
				most = fixed.One
			}
			most = max(most, min(fixed.One, share(own[i].Weight, idfs[n])))
		}
		if w := r.req.row().kin * most >> fixed.FracBits; w > 0 {
			out.terms, out.of = append(out.terms, AddedTerm{name, w}), append(out.of, of[n])
		}
	}
	return out, nil
}

// credit fills in for each term of a text how much of it a node accounts for that has some of the terms and of
// their kin: row are its scores of the terms and then of the kin.
func (k *kin) credit(out, row []int64) {
	clear(out)
	terms := len(out)
	for i, score := range row {
		switch {
		case score == 0:
		case i < terms:
			out[i] = fixed.One
		default:
			for _, t := range k.of[i-terms] {
				out[t] = max(out[t], kinShare)
			}
		}
	}
}

// searchText asks for the list of the text lane: by the text and its kin, and again with terms of the best
// nodes where the request wants that. What the text asks for stays what its own terms say.
func (r *run) searchText(ctx context.Context) ([]Hit, error) {
	before := r.filter.seen
	query := r.query(r.req.Text)
	kin, err := r.kin(ctx, query)
	if err != nil {
		return nil, err
	}
	r.kindred = kin.terms
	all := query
	all.Added = kin.terms
	if r.text, err = r.x.Text(ctx, all, r.filter.accept(ctx), laneDepth); err != nil {
		return nil, err
	}
	r.text.Terms -= len(kin.terms)
	r.text.Known -= len(kin.terms)
	hits := ranked(r.text.Hits)
	if r.req.Feedback == 0 || len(hits) == 0 {
		return hits, nil
	}
	if r.added, err = r.feedback(ctx, query, hits); err != nil || len(r.added) == 0 {
		return hits, err
	}
	r.filter.seen = before // or nodes would count twice
	all.Added = slices.Concat(kin.terms, r.added)
	got, err := r.x.Text(ctx, all, r.filter.accept(ctx), laneDepth)
	return ranked(got.Hits), err
}

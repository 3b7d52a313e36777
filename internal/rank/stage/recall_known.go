package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of what counts as relevant in ranking version 1: clause 26.6. Of questions of LoCoMo and
// HotpotQA, which all have answers, 2% and 0% fall below; of questions to a conversation about another
// one, with the names put right, a third.
// maxCovering is how many of the first nodes of a list tell how much of a wording one of them accounts for.
const maxCovering = retrieve.DefaultLimit

// covering returns for each of some nodes the share of the weight of a text's terms that it has, by kindred
// terms a part of one. A term that no node has weighs as much as the weightiest of the others.
func (r *request) covering(ctx context.Context, q source.TextQuery, ids []graph.ID) ([]int64, error) {
	w, err := r.wording(ctx, q)
	if err != nil {
		return nil, err
	}
	var asked []graph.ID
	for _, id := range ids {
		if _, ok := w.shares[id]; !ok {
			asked = append(asked, id)
		}
	}
	if err := r.cover(ctx, w, asked); err != nil {
		return nil, err
	}
	out := make([]int64, len(ids))
	for i, id := range ids {
		out[i] = w.shares[id]
	}
	return out, nil
}

// cover fills in the shares of some nodes.
func (r *request) cover(ctx context.Context, w *wording, ids []graph.ID) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := r.x.TermScores(ctx, w.query, ids, nil)
	if err != nil {
		return fmt.Errorf("split the scores of the items: %w", err)
	}
	terms := len(w.own)
	if terms > maxTold { // more than a question has: only the shares are kept
		w.credits = slices.Grow(w.credits[:0], terms)[:terms]
		for at, row := range rows {
			w.credit(w.credits, row, r.row.kinKnown)
			w.shares[ids[at]] = w.accounted(w.credits)
		}
		return nil
	}
	all := make([]int64, terms*len(ids))
	for at, row := range rows {
		holds := all[at*terms : (at+1)*terms : (at+1)*terms]
		w.credit(holds, row, r.row.kinKnown)
		w.holds[ids[at]], w.shares[ids[at]] = holds, w.accounted(holds)
	}
	return nil
}

// accounted returns the share of the information of a wording that a node accounts for, which holds so much of each term.
func (w *wording) accounted(holds []int64) int64 {
	sum, total := int64(0), int64(0)
	for i, n := range holds {
		total += w.tells[i]
		sum += w.tells[i] * n >> fixed.FracBits
	}
	return share(sum, total)
}

// keeps returns how much of one node's match of the wording another node has too.
func (w *wording) keeps(one, other graph.ID) int64 {
	sum, total := int64(0), int64(0)
	if w.holds[other] == nil {
		return fixed.One
	}
	for i, n := range w.holds[one] {
		total += w.tells[i] * n >> fixed.FracBits
		sum += w.tells[i] * min(n, w.holds[other][i]) >> fixed.FracBits
	}
	if total == 0 {
		return fixed.One
	}
	return share(sum, total)
}

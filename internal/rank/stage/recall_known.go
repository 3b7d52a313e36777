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
func (r *run) covering(ctx context.Context, q source.TextQuery, ids []graph.ID) ([]int64, error) {
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
func (r *run) cover(ctx context.Context, w *wording, ids []graph.ID) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := r.x.TermScores(ctx, w.query, ids, nil)
	if err != nil {
		return fmt.Errorf("split the scores of the items: %w", err)
	}
	for at, row := range rows {
		w.shares[ids[at]] = w.accounted(row, r.row.kinKnown)
	}
	return nil
}

// accounted returns the share of the weight of a text's terms that row has: scores of the terms and then of their
// kin, which count known. A term that no node has weighs as much as the weightiest of the others.
// accounted returns how much of what a wording tells a node accounts for: row are its scores of the terms and of their
// kin, which count known.
func (w *wording) accounted(row []int64, known int64) int64 {
	sum, total := int64(0), int64(0)
	w.credits = slices.Grow(w.credits[:0], len(w.own))[:len(w.own)]
	w.credit(w.credits, row, known)
	for i, credit := range w.credits {
		total += w.tells[i]
		sum += w.tells[i] * credit >> fixed.FracBits
	}
	return share(sum, total)
}

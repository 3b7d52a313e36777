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
const (
	coveredShare = 19_661                // 0.3
	likeEnough   = fixed.One / 2         // of cosines
	maxCovering  = retrieve.DefaultLimit // items that are looked at
	percent      = 100                   // of a share in a message
	paramCovered = "covered"             // by the best item, in hundredths
)

// knownWarnings returns the warning of this file.
func (r *run) knownWarnings(ctx context.Context, a *retrieve.Answer) ([]retrieve.Warning, error) {
	if r.recalled == nil || !r.asked || r.text.Terms == 0 || r.exact > 0 || r.dated.alone ||
		len(a.Items) == 0 && a.Dropped > 0 || slices.ContainsFunc(a.Warnings, func(w retrieve.Warning) bool {
		return w.Code == retrieve.NothingPasses // so what is known was left out
	}) {
		return nil, nil
	}
	items := a.Items[:min(maxCovering, len(a.Items))]
	for i := range items {
		for _, l := range r.lists {
			if l.cosines[items[i].ID] >= likeEnough {
				return nil, nil
			}
		}
	}
	best, err := r.covered(ctx, items)
	if err != nil || best >= coveredShare {
		return nil, err
	}
	return []retrieve.Warning{warning(retrieve.NothingRelevant, paramCovered, int(best*percent>>fixed.FracBits))}, nil
}

// covered returns the largest share of the weight of the text's terms that one of some items has.
func (r *run) covered(ctx context.Context, items []retrieve.Item) (int64, error) {
	ids := make([]graph.ID, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	shares, err := r.covering(ctx, source.TextQuery{Text: r.req.Text, Readings: r.readings}, ids)
	return slices.Max(append(shares, 0)), err
}

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
func (w *wording) accounted(row []int64, known int64) int64 {
	most, sum, total := int64(0), int64(0), int64(0)
	for _, t := range w.own {
		most = max(most, t.Weight)
	}
	w.credits = slices.Grow(w.credits[:0], len(w.own))[:len(w.own)]
	w.credit(w.credits, row, known)
	for i, credit := range w.credits {
		weight := w.own[i].Weight
		if weight == 0 {
			weight = most
		}
		total += weight
		sum += weight * credit >> fixed.FracBits
	}
	return share(sum, total)
}

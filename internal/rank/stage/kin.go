package stage

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// maxKin bounds the kindred terms of ranking version 2: clause 9.12. The ranking's row has their weight.
const maxKin = 1024 // that are looked up for a text

// wording is one of the texts of a request with its looked-up terms.
type wording struct {
	query source.TextQuery
	own   []source.TermWeight
	tells []int64 // the weight of each of own in the question: clause 11.9
	// kin are kindred terms of the text that some node has: they may answer the question in other words.
	kin    []retrieve.AddedTerm
	of     [][]int              // for each of kin the indexes of the terms of own that it is kindred to
	shares map[graph.ID]int64   // of the question that nodes account for, for those that were asked about
	holds  map[graph.ID][]int64 // of each of own how much these nodes account for

	guessed []bool  // for each of own whether the text misspells it; nil for no readings
	credits []int64 // scratch for one long text's credits
}

// wordingOf is the key of a wording; read reports whether it has the readings of the request's text.
type wordingOf struct {
	text string
	read bool
}

// wording looks up a text and its kindred terms. A kindred term weighs at most the ranking's share of the rarest term
// that it is kindred to, so that a rare one does not outweigh the question.
func (r *request) wording(ctx context.Context, query source.TextQuery) (*wording, error) {
	of := wordingOf{query.Text, len(query.Readings) > 0}
	if w := r.wordings[of]; w != nil {
		return w, nil
	}
	w := &wording{query: query, shares: map[graph.ID]int64{}, holds: map[graph.ID][]int64{}}
	var err error
	if w.own, err = r.x.TermWeights(ctx, query); err != nil {
		return nil, fmt.Errorf("weigh the terms of the text: %w", err)
	}
	w.guess()
	if r.row.kin > 0 {
		if err = r.findKin(ctx, w); err != nil {
			return nil, err
		}
	}
	if w.tells, err = r.tells(ctx, query.Text, w.own); err != nil {
		return nil, err
	}
	w.query.Added = w.kin
	if r.wordings == nil {
		r.wordings = map[wordingOf]*wording{}
	}
	r.wordings[of] = w
	return w, nil
}

func (r *request) findKin(ctx context.Context, w *wording) error {
	a := text.English
	own := w.own
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
		return fmt.Errorf("weigh kindred terms: %w", err)
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
		if weight := r.row.kin * most >> fixed.FracBits; weight > 0 {
			w.kin, w.of = append(w.kin, retrieve.AddedTerm{Term: name, Weight: weight}), append(w.of, of[n])
		}
	}
	return nil
}

// readCredit is how much of a term a node accounts for that has the one it is read as: half, as in its score.
const readCredit = fixed.One / 2

// credit fills in how much of each term of a text a node accounts for: all of those it has, known of those it has a
// kindred term of, and readCredit of those that are read as one it has. row has the node's scores of the terms and then
// of the kin.
func (w *wording) credit(out, row []int64, known int64) {
	clear(out)
	terms := len(out)
	for i, score := range row {
		switch {
		case score == 0:
		case i < terms && w.guessed != nil && w.guessed[i]:
			out[i] = readCredit
		case i < terms:
			out[i] = fixed.One
		default:
			for _, t := range w.of[i-terms] {
				out[t] = max(out[t], known)
			}
		}
	}
}

// guess notes the terms that the text misspells.
func (w *wording) guess() {
	for _, r := range w.query.Readings {
		if text.SameWord(r.Term, r.As) {
			continue
		}
		if w.guessed == nil {
			w.guessed = make([]bool, len(w.own))
		}
		for i := range w.own {
			w.guessed[i] = w.guessed[i] || w.own[i].Term == r.As
		}
	}
}

// searchText returns the list of the text lane, by the text and its kin. Shares of the question still depend on its own
// terms only.
func (f *finder) searchText(ctx context.Context) ([]source.Hit, error) {
	w, err := f.wording(ctx, f.query(f.req.Text))
	if err != nil {
		return nil, err
	}
	f.kindred = w.kin
	if f.text, err = f.x.Text(ctx, w.query, f.filter.Accept(ctx), laneDepth); err != nil {
		return nil, err
	}
	f.text.Terms -= len(w.kin)
	f.text.Known -= len(w.kin)
	return ranked(f.text.Hits), nil
}

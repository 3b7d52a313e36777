package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/rarity"
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

// priorNodes is the number of texts of the language that are added to a memory's own. In a memory of ten texts, these
// decide how telling a word is; in one of thousands, its own texts do.
const priorNodes = 64

// tells returns how telling each term of a wording is: log2 of the number of texts per text that has it, of the memory
// and of the language together.
func (r *request) tells(ctx context.Context, wording string, own []source.TermWeight) ([]int64, error) {
	terms := make([]string, len(own))
	for i := range own {
		terms[i] = own[i].Term
	}
	having, nodes, err := r.x.Counts(ctx, terms)
	if err != nil {
		return nil, fmt.Errorf("count the nodes with terms of the text: %w", err)
	}
	lang := languageOf(wording)
	out := make([]int64, len(own))
	for i, term := range terms {
		prior := 2 * priorNodes * uint64(rarity.Of(term, lang))
		all := uint64(nodes+priorNodes)*2 + 2
		out[i] = max(1, fixed.Log2(all<<fixed.FracBits)-fixed.Log2((2*uint64(having[i])+1)<<fixed.FracBits+prior))
	}
	return out, nil
}

// languageOf returns the language of a text, nil for English and unknown ones.
func languageOf(s string) *rarity.Language {
	var words []string
	text.English.EachSurface(s, func(w text.Surface) bool {
		words = append(words, strings.Clone(w.Token))
		return len(words) < maxTold
	})
	return rarity.LanguageOf(words)
}

// maxTold is how many words of a text are read to recognise its language.
const maxTold = 256

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

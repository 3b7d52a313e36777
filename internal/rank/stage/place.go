package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of long texts: clause 11.9.
const (
	longText  = 512  // bytes of a text from which on it matters whether words stand together
	maxPlaced = 2048 // bytes of a content that are read, and scalars of summary and content that are looked at
	together  = 240  // scalars of a sentence at most
)

// place halves the score of a wording's words in a long text, except those of the sentence with the most of them: the
// words of a pasted page are about many things.
func (r *request) place(ctx context.Context, w *wording, id graph.ID) error {
	holds := w.holds[id]
	if holds == nil || w.shares[id] == 0 || w.placed[id] {
		return nil
	}
	if w.placed == nil {
		w.placed = map[graph.ID]bool{}
	}
	w.placed[id] = true
	n, _, err := r.g.Node(ctx, id)
	if err != nil {
		return fmt.Errorf("read node %s: %w", id, err)
	}
	said := n.Summary
	if n.Content != nil {
		content, err := r.g.ContentStart(ctx, n.Content, maxPlaced)
		if err != nil {
			return fmt.Errorf("read content of %s: %w", id, err)
		}
		said += "\n\n" + content
	}
	if len(said) < longText {
		return nil
	}
	best, err := w.bestSentence(text.FirstScalars(said, maxPlaced), holds)
	if err != nil || best == nil {
		return err
	}
	for i := range holds {
		holds[i] = max(best[i], holds[i]/2)
	}
	w.shares[id] = w.accounted(holds)
	return nil
}

// bestSentence returns how much of each term of a wording the sentence of a text has that accounts for the most, nil if
// none accounts for any. No sentence counts for more of a term than the whole node, which holds says.
func (w *wording) bestSentence(said string, holds []int64) (best []int64, err error) {
	a, err := text.New(retrieve.Language)
	if err != nil {
		return nil, err
	}
	most, row := int64(0), make([]int64, len(w.own)+len(w.kin))
	here := make([]int64, len(holds))
	text.EachSentence(said, together, func(s text.Sentence) bool {
		clear(row)
		a.Each(said[s.Start:s.End], func(term string) bool {
			w.mark(row, term)
			return true
		})
		w.credit(here, row, fixed.One)
		for i := range here {
			here[i] = min(here[i], holds[i])
		}
		if n := w.accounted(here); n > most {
			most, best = n, append(best[:0], here...)
		}
		return true
	})
	return best, nil
}

// mark records in a row of scores that a text has a term.
func (w *wording) mark(row []int64, term string) {
	for i := range w.own {
		if w.own[i].Term == term {
			row[i] = 1
		}
	}
	for i := range w.kin {
		if w.kin[i].Term == term {
			row[len(w.own)+i] = 1
		}
	}
}

// askingLast moves candidates that only ask behind statements that match the question nearly as well: a question
// repeats the words and answers nothing.
func (e *examiner) askingLast(ctx context.Context, list []held) error {
	first := list[:min(maxLater, len(list))]
	asks := make([]bool, len(first))
	some := false
	for i, h := range first {
		if h.tier != tierNone || h.beside != nil {
			continue
		}
		n, _, err := e.g.Node(ctx, h.id)
		if err != nil {
			return fmt.Errorf("read node %s: %w", h.id, err)
		}
		if !endsAsking(n.Summary) {
			continue
		}
		texts, err := comparedTexts(ctx, e.g, n)
		if err != nil {
			return err
		}
		asks[i] = onlyAsks(texts[:])
		some = some || asks[i]
	}
	if !some {
		return nil
	}
	out, waiting := make([]held, 0, len(first)), []held(nil)
	for i, h := range first {
		if asks[i] {
			waiting = append(waiting, h)
			continue
		}
		for len(waiting) > 0 && h.strength() < waiting[0].strength()*e.row.ofBest>>fixed.FracBits {
			out, waiting = append(out, waiting[0]), waiting[1:]
		}
		out = append(out, h)
	}
	copy(first, slices.Concat(out, waiting))
	return nil
}

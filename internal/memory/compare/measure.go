package compare

import (
	"math/big"
	"slices"
	"strings"
)

// longestAmount bounds the digits of a number that is converted: what is longer counts as it is written.
const longestAmount = 32

// measure is a number and its unit at a place of an analysis, as an amount of the smallest unit of its kind.
type measure struct {
	at, n  int    // the first token, and how many there are
	amount string // "300000 ms"
}

func (m measure) form(list []token) string {
	var b strings.Builder
	for _, t := range list[m.at : m.at+m.n] {
		b.WriteString(t.form + " ")
	}
	return b.String()
}

func (x *lexicon) measures(list []token) []measure {
	var out []measure
	for i := 0; i+1 < len(list); i++ {
		if list[i].class != classNumber || list[i].sentence != list[i+1].sentence {
			continue
		}
		unit, n := x.unitAt(list[i+1:])
		if unit == "" || len(list[i].form) > longestAmount {
			continue
		}
		times, base, _ := strings.Cut(unit, " ")
		count, ok := new(big.Rat).SetString(list[i].form)
		factor, known := new(big.Rat).SetString(times)
		if ok && known {
			out = append(out, measure{i, n + 1, count.Mul(count, factor).RatString() + " " + base})
		}
	}
	return out
}

// unitAt returns what is known of the unit that tokens begin with, and how many tokens it takes. A short one
// counts as it is written: Mb is not MB.
func (x *lexicon) unitAt(list []token) (unit string, n int) {
	first := &list[0]
	switch {
	case first.class == classSingle:
		if len(list) > 1 && list[1].class == classSingle {
			if unit = x.measure[first.form+list[1].form]; unit != "" {
				return unit, 2
			}
		}
		return x.measure[first.form], 1
	case first.class != classWord:
		return "", 0
	case len(first.form) <= longestShort:
		return x.measure[first.was.exact], 1
	}
	return x.measure[first.form], 1
}

// inOneUnit writes amounts that two texts have in common in the same words.
func inOneUnit(a, b *analysis) (*analysis, *analysis) {
	if len(a.measures) == 0 || len(b.measures) == 0 {
		return a, b
	}
	words := map[string][]token{} // of each amount that both have: of several the first by form
	for _, m := range a.measures {
		if !slices.ContainsFunc(b.measures, func(o measure) bool { return o.amount == m.amount }) {
			continue
		}
		best := ""
		for _, side := range []*analysis{a, b} {
			for _, o := range side.measures {
				if form := o.form(side.tokens); o.amount == m.amount && (best == "" || form < best) {
					best, words[m.amount] = form, side.tokens[o.at:o.at+o.n]
				}
			}
		}
	}
	return a.written(words), b.written(words)
}

// written returns the analysis with the measures of some amounts in the words given.
func (a *analysis) written(words map[string][]token) *analysis {
	if len(words) == 0 {
		return a
	}
	out := &analysis{lexicon: a.lexicon, tokens: make([]token, 0, len(a.tokens)+len(words))}
	done := 0
	for _, m := range a.measures {
		as, ok := words[m.amount]
		if !ok {
			continue
		}
		out.tokens = append(out.tokens, a.tokens[done:m.at]...)
		here := &a.tokens[m.at]
		for _, t := range as {
			t.sentence, t.start, t.end = here.sentence, here.start, a.tokens[m.at+m.n-1].end
			out.tokens = append(out.tokens, t)
		}
		done = m.at + m.n
	}
	out.tokens = append(out.tokens, a.tokens[done:]...)
	return out
}

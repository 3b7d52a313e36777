package dates

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// firstFit is a simple version of reader.fit that tries all patterns in order.
func firstFit(list []token) (found, *pattern, int) {
	all := allPatterns()
	for _, patterns := range [][]pattern{all.absolute, all.relative} {
		for i := range patterns {
			if f, n := patterns[i].match(list); n > 0 {
				return f, &patterns[i], n
			}
		}
	}
	return found{}, nil, 0
}

// TestBegins: exactly the patterns that can match at a token are listed for it, in table order.
func TestBegins(t *testing.T) {
	all := allPatterns()
	var words []string
	for _, patterns := range [][]pattern{all.absolute, all.relative} {
		for _, p := range patterns {
			for _, e := range p.elems {
				words = append(words, e.any...)
			}
		}
	}
	for _, names := range []map[string]int{monthNames, weekdayNames, seasonNames, countNames, ordinals} {
		words = append(words, slices.Collect(maps.Keys(names))...)
	}
	words = append(words, slices.Collect(maps.Keys(unitNames))...)
	words = append(words, "moved", "the", "日", "天")
	slices.Sort(words)
	rng := rand.New(rand.NewPCG(1, 2))
	fits := 0
	for range 200_000 {
		r := new(reader)
		for range 1 + rng.IntN(6) {
			tok := token{s: words[rng.IntN(len(words))], word: true}
			if rng.IntN(2) == 0 {
				tok = token{n: []int{1, 3, 12, 31, 250, 2024}[rng.IntN(6)]}
				for n := tok.n; n > 0; n /= 10 {
					tok.digits++
				}
			}
			r.list = append(r.list, tok)
		}
		_, want, wantLen := firstFit(r.list)
		o, n := r.operand(0, false)
		if n != wantLen || n > 0 && o.base != (want.means >= shiftUnit) {
			t.Fatalf("%v: %d tokens, want %d", r.list, n, wantLen)
		}
		if n > 0 {
			fits++
		}
	}
	if fits < 5000 {
		t.Errorf("%d dates", fits)
	}
}

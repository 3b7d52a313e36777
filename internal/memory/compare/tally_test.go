package compare

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTally leaves of both texts what striking out one pair after the other leaves, for each of
// several texts that it is paired with.
func TestTally(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tokens := func() []token {
		list := make([]token, r.IntN(12))
		for i := range list {
			list[i] = token{
				form: string(rune('a' + r.IntN(4))), class: []class{classWord, classNumber}[r.IntN(2)],
			}
		}
		return list
	}
	some := 0
	for range 300 {
		own := tokens()
		tally := newTally(own, (*token).spelt)
		for range 4 {
			other := tokens()
			used := make([]bool, len(other))
			var ownLeft, otherLeft []*token
			both := 0
		own:
			for i := range own {
				for k := range other {
					if !used[k] && own[i].spelt() == other[k].spelt() {
						used[k] = true
						both++
						continue own
					}
				}
				ownLeft = append(ownLeft, &own[i])
			}
			for k := range other {
				if !used[k] {
					otherLeft = append(otherLeft, &other[k])
				}
			}
			struck := new(striking)
			struck.strikeBoth = func(a, b int32) { struck.inA[a], struck.inB[b] = true, true }
			by := newTally(other, (*token).spelt)
			struck.strike(tally, by)
			left, right := leftOf(nil, own, struck.inA), leftOf(nil, other, struck.inB)
			n := tally.pair(by, nil)
			if n != both || !slices.Equal(right, otherLeft) || !slices.Equal(left, ownLeft) {
				t.Fatalf("%d pairs of %v and %v, want %d, or others are left", n, own, other, both)
			}
			some += both
		}
	}
	if some < 1000 {
		t.Errorf("%d pairs in all", some)
	}
}

package evaluate

import (
	"math/big"
	"slices"
)

// bootstrapRounds is how often the differences are drawn anew, bootstrapSeed what the draws begin with.
const (
	bootstrapRounds = 10_000
	bootstrapSeed   = 1
)

// Gain is a mean of differences and the interval of 95% around it.
type Gain struct{ Mean, From, To *big.Rat }

// Bootstrap returns the mean of differences between pairs, and the interval in which the means of 95% of
// samples are that are drawn from them with replacement. The draws are the same in each run. It is nil for
// no differences.
func Bootstrap(differences []*big.Rat) *Gain {
	if len(differences) == 0 {
		return nil
	}
	n := int64(len(differences))
	unit := big.NewInt(1 << 32) // what differences are rounded to, so that sums are integers
	list, mean := make([]int64, n), new(big.Rat)
	for i, d := range differences {
		mean.Add(mean, d)
		scaled := new(big.Int).Mul(d.Num(), unit)
		list[i] = scaled.Quo(scaled, d.Denom()).Int64()
	}
	sums, state := make([]int64, bootstrapRounds), uint64(bootstrapSeed)
	for round := range sums {
		for range n {
			var x uint64
			state, x = splitMix(state)
			sums[round] += list[x%uint64(n)]
		}
	}
	slices.Sort(sums)
	of := func(at int) *big.Rat {
		return new(big.Rat).SetFrac(big.NewInt(sums[at]), new(big.Int).Mul(unit, big.NewInt(n)))
	}
	cut := bootstrapRounds / 40
	return &Gain{mean.Quo(mean, big.NewRat(n, 1)), of(cut), of(bootstrapRounds - 1 - cut)}
}

// splitMix is SplitMix64: the state after this one, and the number that it gives.
func splitMix(state uint64) (next, x uint64) {
	next = state + 0x9e3779b97f4a7c15
	x = next
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return next, x ^ x>>31
}

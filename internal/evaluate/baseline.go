package evaluate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
)

// Summaries that digests are compared with. Each orders the sentences of a text, and takes from the first on
// what fits into the tokens; what is taken is put back into the order of the text.
var baselines = []struct {
	name string
	// order returns the numbers of the sentences, the best first.
	order func(list []distill.Sentence, terms [][]string) []int
}{
	{"lead", leadOrder}, {"random", randomOrder}, {"textrank", textRankOrder}, {"lexrank", lexRankOrder},
}

const (
	rankRounds  = 50                    // of walks over sentences
	rankDamping = fixed.One * 85 / 100  // the share of a walk that goes on
	lexLinked   = fixed.One / 10        // the cosine from which on LexRank links two sentences
	rankScale   = int64(fixed.One << 8) // what the scores of all sentences are on average
)

// fitSentences takes sentences in an order while they fit into tokens.
func fitSentences(list []distill.Sentence, order []int, tokens int) []distill.Sentence {
	var taken []int
	seen := map[string]bool{}
	for _, i := range order {
		n := text.EstimateTokens(list[i].Text)
		if n > tokens || seen[list[i].Text] {
			continue
		}
		seen[list[i].Text] = true
		tokens -= n
		taken = append(taken, i)
	}
	slices.Sort(taken)
	out := make([]distill.Sentence, len(taken))
	for k, i := range taken {
		out[k] = list[i]
	}
	return out
}

func leadOrder(list []distill.Sentence, _ [][]string) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	return order
}

// randomOrder is by a hash of each sentence and where it is from: the same in each run.
func randomOrder(list []distill.Sentence, _ [][]string) []int {
	keys := make([]uint64, len(list))
	for i, s := range list {
		sum := sha256.Sum256(append(s.Fact[:], s.Text...))
		keys[i] = binary.BigEndian.Uint64(sum[:])
	}
	order := leadOrder(list, nil)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return order
}

// textRankOrder is by a walk over sentences that goes on in proportion to the terms that two share, over the
// logarithms of their lengths (Mihalcea and Tarau 2004).
func textRankOrder(list []distill.Sentence, terms [][]string) []int {
	sets := make([]map[string]bool, len(list))
	for i := range terms {
		sets[i] = map[string]bool{}
		for _, t := range terms[i] {
			sets[i][t] = true
		}
	}
	return walkOrder(len(list), func(i, j int) int64 {
		shared := int64(0)
		for t := range sets[i] {
			if sets[j][t] {
				shared++
			}
		}
		length := fixed.Log2(uint64(max(1, len(terms[i])))) + fixed.Log2(uint64(max(1, len(terms[j]))))
		return shared * fixed.One * fixed.One / max(fixed.One, length)
	})
}

// lexRankOrder is by a walk over sentences that goes on with equal chance to those whose cosine of term
// frequencies, weighted by rareness, is above a threshold (Erkan and Radev 2004).
func lexRankOrder(list []distill.Sentence, terms [][]string) []int {
	rare := map[string]int64{}
	for _, of := range terms {
		for _, t := range slices.Compact(slices.Sorted(slices.Values(of))) {
			rare[t]++
		}
	}
	for t, n := range rare { // each is changed once, whatever the order
		rare[t] = fixed.Log2(uint64(len(list))) - fixed.Log2(uint64(n))
	}
	vectors, lengths := make([]map[string]int64, len(list)), make([]int64, len(list))
	for i, of := range terms {
		vectors[i] = map[string]int64{}
		for _, t := range of {
			vectors[i][t] += rare[t] >> 4 // so that squares of sums fit
		}
		var squares uint64
		for _, w := range vectors[i] {
			squares += uint64(w * w)
		}
		lengths[i] = int64(fixed.Isqrt(squares))
	}
	return walkOrder(len(list), func(i, j int) int64 {
		var dot int64
		for t, w := range vectors[i] {
			dot += w * vectors[j][t]
		}
		if dot == 0 || dot/max(1, lengths[i])*fixed.One/max(1, lengths[j]) < lexLinked {
			return 0
		}
		return fixed.One
	})
}

// walkOrder orders n sentences by how often a walk is at each, which goes on by weights.
func walkOrder(n int, weight func(i, j int) int64) []int {
	links, sums := make([][]int64, n), make([]int64, n)
	for i := range links {
		links[i] = make([]int64, n)
		for j := range links[i] {
			if i != j {
				links[i][j] = weight(i, j)
				sums[i] += links[i][j]
			}
		}
	}
	score := make([]int64, n)
	for i := range score {
		score[i] = rankScale
	}
	for range rankRounds {
		next := make([]int64, n)
		for i := range next {
			next[i] = rankScale - rankScale*rankDamping/fixed.One
		}
		for i, of := range links {
			for j, w := range of {
				if w > 0 {
					share := fixed.MulDivSat(uint64(score[i]), uint64(w), uint64(sums[i]))
					next[j] += int64(fixed.MulDivSat(share, uint64(rankDamping), fixed.One))
				}
			}
		}
		score = next
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order
}

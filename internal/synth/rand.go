package synth

import "math/bits"

// source is SplitMix64: integers that are the same on every machine and in every release of Go.
type source struct{ state uint64 }

// newSource returns the source of one thing (a node, a question) of one kind, so that each can be
// made without those before it.
func newSource(seed uint64, kind, number uint64) *source {
	s := &source{seed}
	s.state = s.next() ^ kind
	s.state = s.next() ^ number
	return s
}

func (s *source) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n - 1. Its deviation from a uniform distribution is less than n in 2^64.
func (s *source) below(n int) int {
	hi, _ := bits.Mul64(s.next(), uint64(n))
	return int(hi)
}

// between returns a number from low to high.
func (s *source) between(low, high int) int { return low + s.below(high-low+1) }

// zipf returns a number from 1 to n, each with a probability in proportion to its reciprocal: an
// octave first, within which r is kept with the probability 2^octave / r.
func (s *source) zipf(n int) int {
	octaves := bits.Len(uint(n))
	for {
		low := 1 << s.below(octaves)
		r := low + s.below(low)
		if s.below(r) < low && r <= n {
			return r
		}
	}
}

// early returns a number from 0 to n - 1 with a density that falls with its square root. If each number in turn picks
// among those before it, the picks of one are distributed like links of the web: P(more than k) falls with k^-2.
func (s *source) early(n int) int {
	u := s.next()
	square, _ := bits.Mul64(u, u)
	at, _ := bits.Mul64(square, uint64(n))
	return int(at)
}

// bell returns a number near 0, of a variance of about spread^2 / 3, within ±2·spread.
func (s *source) bell(spread int) int {
	sum := 0
	for range 4 {
		sum += s.between(-spread, spread)
	}
	return sum / 2
}

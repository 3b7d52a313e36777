package synth

import "math/bits"

// Rand is SplitMix64: integers that are the same on every machine and in every release of Go.
type Rand struct{ state uint64 }

// NewRand returns the numbers of one thing (a node, a question) of one kind, so that each can be
// made without those before it.
func NewRand(seed uint64, kind, number uint64) *Rand {
	s := &Rand{seed}
	s.state = s.Next() ^ kind
	s.state = s.Next() ^ number
	return s
}

// Next returns any 64 bits.
func (s *Rand) Next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns a number from 0 to n - 1. Its deviation from a uniform distribution is less than n in 2^64.
func (s *Rand) Below(n int) int {
	hi, _ := bits.Mul64(s.Next(), uint64(n))
	return int(hi)
}

// Between returns a number from low to high.
func (s *Rand) Between(low, high int) int { return low + s.Below(high-low+1) }

// Zipf returns a number from 1 to n, each with a probability in proportion to its reciprocal: an
// octave first, within which r is kept with the probability 2^octave / r.
func (s *Rand) Zipf(n int) int {
	octaves := bits.Len(uint(n))
	for {
		low := 1 << s.Below(octaves)
		r := low + s.Below(low)
		if s.Below(r) < low && r <= n {
			return r
		}
	}
}

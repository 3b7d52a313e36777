package links

import (
	"encoding/binary"

	"github.com/mnem-project/mnem/graph"
)

// sieve is a Bloom filter of the nodes of some parts: who asks a segment that is not the oldest for
// a node that it does not have reads no part for it, but once in 300 times. It is the number of
// nodes, u32, and sieveBits bits for each.
type sieve []byte

const (
	sieveHead = 4
	sieveBits = 12
	sieveKeys = 6
)

func newSieve(hashes []uint64) sieve {
	s := make(sieve, sieveSize(len(hashes)))
	binary.LittleEndian.PutUint32(s, uint32(len(hashes)))
	for _, h := range hashes {
		for range sieveKeys {
			at := s.place(&h)
			s[at/8] |= 1 << (at % 8)
		}
	}
	return s
}

func sieveSize(nodes int) int { return sieveHead + (nodes*sieveBits+7)/8 }

// fits reports whether a sieve is as long as it says.
func (s sieve) fits() bool {
	if len(s) <= sieveHead {
		return false
	}
	n := binary.LittleEndian.Uint32(s)
	return n <= maxNodes && len(s) == sieveSize(int(n))
}

// place returns the next place of a hash.
func (s sieve) place(h *uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	*h = (*h ^ *h>>29) * odd
	return 8*sieveHead + *h>>32*uint64(8*(len(s)-sieveHead))>>32
}

// has reports whether a node may be in the parts.
func (s sieve) has(id graph.ID) bool {
	h := hashID(id)
	for range sieveKeys {
		if at := s.place(&h); s[at/8]&(1<<(at%8)) == 0 {
			return false
		}
	}
	return true
}

// hashID mixes all of an id: ids may be anything.
func hashID(id graph.ID) uint64 {
	const a, b = 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53
	low, high := binary.LittleEndian.Uint64(id[:]), binary.LittleEndian.Uint64(id[8:])
	h := (low ^ low>>32) * a
	h = (h ^ h>>29 ^ high) * b
	return h ^ h>>32
}

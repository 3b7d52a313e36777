package links

import (
	"encoding/binary"

	"github.com/mnem-project/mnem/graph"
)

// bloom is a Bloom filter of the nodes of some parts: a lookup of an absent node reads a part of a segment other
// than the oldest only once in 300 times. It is the number of nodes, u32, and filterBits bits for each.
type bloom []byte

const (
	filterHead = 4
	filterBits = 12
	filterKeys = 6
)

func newBloom(hashes []uint64) bloom {
	s := make(bloom, filterSize(len(hashes)))
	binary.LittleEndian.PutUint32(s, uint32(len(hashes)))
	for _, h := range hashes {
		for range filterKeys {
			at := s.place(&h)
			s[at/8] |= 1 << (at % 8)
		}
	}
	return s
}

func filterSize(nodes int) int { return filterHead + (nodes*filterBits+7)/8 }

// fits reports whether a filter has the length it declares.
func (s bloom) fits() bool {
	if len(s) <= filterHead {
		return false
	}
	n := binary.LittleEndian.Uint32(s)
	return n <= maxNodes && len(s) == filterSize(int(n))
}

// place returns the next bit position from a hash.
func (s bloom) place(h *uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	*h = (*h ^ *h>>29) * odd
	return 8*filterHead + *h>>32*uint64(8*(len(s)-filterHead))>>32
}

// has reports whether a node may be in the parts.
func (s bloom) has(id graph.ID) bool {
	h := hashID(id)
	for range filterKeys {
		if at := s.place(&h); s[at/8]&(1<<(at%8)) == 0 {
			return false
		}
	}
	return true
}

// hashID mixes all bytes of an id, which may have any distribution.
func hashID(id graph.ID) uint64 {
	const a, b = 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53
	low, high := binary.LittleEndian.Uint64(id[:]), binary.LittleEndian.Uint64(id[8:])
	h := (low ^ low>>32) * a
	h = (h ^ h>>29 ^ high) * b
	return h ^ h>>32
}

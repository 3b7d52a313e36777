package state

import (
	"encoding/binary"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// setShards is how many tables a set has: each grows by itself, so that while one does, the
	// old and the new of it are a small part of the whole.
	setShards = 256
	// setFirst is how many places a table has at first.
	setFirst = 8
	// setKept is how many bytes of a digest are kept, beside the first one, which is the table's.
	setKept = 16
)

// CidSet is a set of CIDs for a whole repository of them: 16 bytes a place and no pointers, so that
// the garbage collector of the language has nothing to look at. Of the places of a table three
// quarters are taken at most, and half of these just after it grew: 21 to 32 bytes for each CID,
// where a map takes 60 to 110. It knows CIDs by the first 136 bits of their digests: to find two
// blocks that share these takes 2^68 hashes, sixteen times what it takes for two keys of one id.
// The zero set is ready. Not safe for concurrent use.
type CidSet = CidMap[struct{}]

// CidMap is a CidSet with a value for each CID.
type CidMap[V any] struct {
	raw, records [setShards]setTable[V] // apart: the same bytes may be both, and are two blocks then
	n            int
}

// setTable is a table with open addresses. A place of zeros is free: nobody knows bytes of that hash.
type setTable[V any] struct {
	places []setPlace[V]
	n      int
}

type setPlace[V any] struct {
	value  V // first: one of no size at the end would take a byte
	digest setDigest
}

type setDigest [setKept]byte

func (s *CidMap[V]) table(c ipld.CID, first byte) *setTable[V] {
	if c.Codec() == ipld.Raw {
		return &s.raw[first]
	}
	return &s.records[first]
}

// Len returns how many CIDs are in the set.
func (s *CidMap[V]) Len() int { return s.n }

// Has reports whether a CID is in the set.
func (s *CidMap[V]) Has(c ipld.CID) bool { return s.Find(c) != nil }

// Find returns the value of a CID, until one is added, and nil for one that is not in the set.
func (s *CidMap[V]) Find(c ipld.CID) *V {
	digest := c.Digest()
	t := s.table(c, digest[0])
	if t.n == 0 {
		return nil
	}
	d := setDigest(digest[1:])
	if p := &t.places[t.find(&d)]; p.digest == d {
		return &p.value
	}
	return nil
}

// Add adds a CID and reports whether it was not in the set before.
func (s *CidMap[V]) Add(c ipld.CID) bool {
	n := s.n
	s.Value(c)
	return s.n > n
}

// Value returns the value of a CID, until one is added. One that was not in the set is added with none.
func (s *CidMap[V]) Value(c ipld.CID) *V {
	digest := c.Digest()
	t := s.table(c, digest[0])
	d := setDigest(digest[1:])
	if 4*t.n >= 3*len(t.places) {
		t.grow()
	}
	p := &t.places[t.find(&d)]
	if p.digest != d {
		p.digest = d
		t.n++
		s.n++
	}
	return &p.value
}

// find returns the place of a digest, or the free one where it would be.
func (t *setTable[V]) find(d *setDigest) int {
	// Digests are spread already: their bytes need no hashing.
	at := int(binary.BigEndian.Uint32(d[:])) % len(t.places)
	for t.places[at].digest != *d && t.places[at].digest != (setDigest{}) {
		if at++; at == len(t.places) {
			at = 0
		}
	}
	return at
}

// grow makes a table half as large again.
func (t *setTable[V]) grow() {
	old := t.places
	t.places = make([]setPlace[V], max(setFirst, len(old)*3/2))
	for i := range old {
		if old[i].digest != (setDigest{}) {
			t.places[t.find(&old[i].digest)] = old[i]
		}
	}
}

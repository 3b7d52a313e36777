package repo

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

// cidSet is a set of CIDs for a whole repository of them: 16 bytes a place and no pointers, so that
// the garbage collector of the language has nothing to look at. Of the places of a table three
// quarters are taken at most, and half of these just after it grew: 21 to 32 bytes for each CID,
// where a map takes 60 to 110. It knows CIDs by the first 136 bits of their digests: to find two
// blocks that share these takes 2^68 hashes, sixteen times what it takes for two keys of one id.
// The zero set is ready. Not safe for concurrent use.
type cidSet struct {
	raw, records [setShards]setTable // apart: the same bytes may be both, and are two blocks then
	n            int
}

// setTable is a table with open addresses. A place of zeros is free: nobody knows bytes of that hash.
type setTable struct {
	places []setPlace
	n      int
}

type setPlace [setKept]byte

func (s *cidSet) table(c ipld.CID, first byte) *setTable {
	if c.Codec() == ipld.Raw {
		return &s.raw[first]
	}
	return &s.records[first]
}

// Len returns how many CIDs are in the set.
func (s *cidSet) Len() int { return s.n }

// Has reports whether a CID is in the set.
func (s *cidSet) Has(c ipld.CID) bool {
	digest := c.Digest()
	t := s.table(c, digest[0])
	if t.n == 0 {
		return false
	}
	d := setPlace(digest[1:])
	return t.places[t.find(&d)] == d
}

// Add adds a CID and reports whether it was not in the set before.
func (s *cidSet) Add(c ipld.CID) bool {
	digest := c.Digest()
	t := s.table(c, digest[0])
	d := setPlace(digest[1:])
	if 4*t.n >= 3*len(t.places) {
		t.grow()
	}
	at := t.find(&d)
	if t.places[at] == d {
		return false
	}
	t.places[at] = d
	t.n++
	s.n++
	return true
}

// find returns the place of a digest, or the free one where it would be.
func (t *setTable) find(d *setPlace) int {
	// Digests are spread already: their bytes need no hashing.
	at := int(binary.BigEndian.Uint32(d[:])) % len(t.places)
	for t.places[at] != *d && t.places[at] != (setPlace{}) {
		if at++; at == len(t.places) {
			at = 0
		}
	}
	return at
}

// grow makes a table half as large again.
func (t *setTable) grow() {
	old := t.places
	t.places = make([]setPlace, max(setFirst, len(old)*3/2))
	for i := range old {
		if old[i] != (setPlace{}) {
			t.places[t.find(&old[i])] = old[i]
		}
	}
}

package state

import (
	"encoding/binary"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// setShards is the number of tables in a set. Each grows separately, so that the old and new copies of a
	// growing table are a small part of the whole.
	setShards = 256
	// setFirst is a table's initial capacity.
	setFirst = 8
	// setKept is how many bytes of a digest are stored, in addition to the first byte, which selects the table.
	setKept = 16
)

// CidSet is a set of CIDs, for a whole repository of them: 16 bytes an entry and no pointers, so the garbage
// collector skips it. Tables are at most three quarters full, and half of that after growing: 21 to 32 bytes for
// each CID, compared with 60 to 110 in a map. It compares CIDs by the first 136 bits of their digests: finding two
// blocks that share these takes 2^68 hashes, sixteen times as many as two keys with one id. The zero set is ready
// to use. Not safe for concurrent use.
type CidSet = CidMap[struct{}]

// CidMap is a CidSet with a value for each CID.
type CidMap[V any] struct {
	raw, records [setShards]setTable[V] // separate: the same bytes may be in both, as two blocks
	n            int
}

// setTable is an open-addressing hash table. A zero entry is free: no known data has that hash.
type setTable[V any] struct {
	places []setPlace[V]
	n      int
}

type setPlace[V any] struct {
	value  V // first: a zero-size field at the end would take a byte
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

// Find returns a pointer to the value of a CID, valid until the next addition, or nil for a CID not in the set.
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

// Add adds a CID and reports whether it was absent before.
func (s *CidMap[V]) Add(c ipld.CID) bool {
	n := s.n
	s.Value(c)
	return s.n > n
}

// Value returns a pointer to the value of a CID, valid until the next addition. An absent CID is added with a zero
// value.
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

// find returns the entry of a digest, or the free one for it.
func (t *setTable[V]) find(d *setDigest) int {
	// Digests are uniform already and need no hashing.
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

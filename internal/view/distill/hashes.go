package distill

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// The tree of hashes finds facts and digests by their texts. Each has an entry for each of four parts of its Sem, of 16
// bits, and one for its source. If two hashes differ in d bits, one of the parts differs in d/4 at most: a search looks
// up the few values of a part that are so near. A key is
//
//	part    1 byte: 0 to 3, or bySource
//	hash    the 8 bytes of the Sem with that part in front, or the 32 of the source
//	kind    1 byte: ofDigest or ofFact
//	id      16 bytes, of the fact or the scope
//	label   digits, of a digest
const (
	semParts = 4
	partBits = 64 / semParts
	bySource = semParts

	ofDigest = 'd'
	ofFact   = 'f'

	semHead    = 1 + 8
	sourceHead = 1 + len(Source{})

	// seekCost is how many entries are read in the time of one look-up.
	seekCost = 16
	// hashBatch is how many entries are written at once, so that a first run holds few of them.
	hashBatch = 1 << 15
)

var (
	// nothing is the value of all keys in the tree of hashes.
	nothing = ipld.AppendNull(nil)

	errHash = fmt.Errorf("%w: a key that is none of a hash", store.ErrCorrupt)
)

type hashOf struct {
	sem    Sem
	source Source
	id     graph.ID // of the fact, or the scope
	label  string
	kind   byte
}

func hashOfDigest(d *Digest) hashOf { return hashOf{d.Sem, d.Source, d.Scope, d.Label, ofDigest} }

func (s Sem) front(part int) Sem { return Sem(bits.RotateLeft64(uint64(s), part*partBits)) }

func (h *hashOf) key(part int) []byte {
	k := append(make([]byte, 0, sourceHead+1+graph.IDLen+len(h.label)), byte(part))
	if part == bySource {
		k = append(k, h.source[:]...)
	} else {
		k = binary.BigEndian.AppendUint64(k, uint64(h.sem.front(part)))
	}
	return append(append(append(k, h.kind), h.id[:]...), h.label...)
}

func byKey(part int) func(a, b hashOf) int {
	return func(a, b hashOf) int {
		c := 0
		if part == bySource {
			c = bytes.Compare(a.source[:], b.source[:])
		} else {
			c = cmp.Compare(a.sem.front(part), b.sem.front(part))
		}
		return cmp.Or(c, cmp.Compare(a.kind, b.kind), a.id.Compare(b.id), strings.Compare(a.label, b.label))
	}
}

func parseTail(tail []byte) (n Neighbour, err error) {
	if len(tail) < 1+graph.IDLen {
		return n, errHash
	}
	kind, id, label := tail[0], graph.ID(tail[1:1+graph.IDLen]), string(tail[1+graph.IDLen:])
	switch {
	case kind == ofFact && label == "":
		return Neighbour{ID: id.String(), Fact: id, Kind: "fact"}, nil
	case kind == ofDigest && len(label) <= keyDigits && strings.Trim(label, allDigits) == "":
		return Neighbour{ID: DigestID(id, label), Kind: kindOf(id, label)}, nil
	}
	return n, errHash
}

// rehash edits a tree of hashes: entries in both lists stay.
func rehash(ctx context.Context, tree *prolly.Map, old, now []hashOf) (*prolly.Map, error) {
	for part := range semParts + 1 {
		order := byKey(part)
		slices.SortFunc(old, order)
		slices.SortFunc(now, order)
		gone, come := old, now
		var edits []prolly.Edit
		for len(gone) > 0 || len(come) > 0 {
			c := -1
			switch {
			case len(gone) == 0:
				c = 1
			case len(come) > 0:
				c = order(gone[0], come[0])
			}
			switch {
			case c < 0:
				edits = append(edits, prolly.Edit{Key: gone[0].key(part)})
				gone = gone[1:]
			case c > 0:
				edits = append(edits, prolly.Edit{Key: come[0].key(part), Value: nothing})
				come = come[1:]
			default:
				gone, come = gone[1:], come[1:]
			}
			if len(edits) == hashBatch || len(gone) == 0 && len(come) == 0 {
				var err error
				if tree, err = tree.Edit(ctx, edits); err != nil {
					return nil, err
				}
				edits = edits[:0]
			}
		}
	}
	return tree, nil
}

// Neighbour is a fact or digest whose hash is near another.
type Neighbour struct {
	ID       string   // of a digest, or of a fact
	Fact     graph.ID // zeros for a digest
	Kind     string   // "fact", or the digest's kind
	Sem      Sem
	Distance int
}

// Near returns the facts and digests whose hash differs in at most that many bits, the nearest first, and the number of
// hashes compared.
func (t Tree) Near(ctx context.Context, sem Sem, most int) (out []Neighbour, read int, err error) {
	values := nearValues(most / semParts)
	parts := semParts
	if t.Hashes.Len()/(semParts+1) <= uint64(seekCost*semParts*len(values)) {
		values, parts = nil, 1 // of each hash one entry
	}
	for part := range parts {
		for _, span := range spans(part, sem, values) {
			for e, err := range t.Hashes.Scan(ctx, span[0], span[1]) {
				if err != nil {
					return nil, read, err
				}
				n, err := readNeighbour(e.Key, sem)
				if err != nil {
					return nil, read, err
				}
				if read++; n.Distance <= most {
					out = append(out, n)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Neighbour) int {
		return cmp.Or(a.Distance-b.Distance, strings.Compare(a.ID, b.ID), strings.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(out), read, nil // one may be near in several parts
}

// nearValues returns the values with at most that many one bits in a part, ascending.
func nearValues(most int) (out []uint16) {
	for v := range 1 << partBits {
		if bits.OnesCount16(uint16(v)) <= most {
			out = append(out, uint16(v))
		}
	}
	return out
}

// spans returns the ranges of a part's keys whose value differs from the hash's by one of some values; without values,
// the whole part.
func spans(part int, sem Sem, values []uint16) [][2][]byte {
	if values == nil {
		return [][2][]byte{{{byte(part)}, {byte(part + 1)}}}
	}
	out := make([][2][]byte, len(values))
	for i, v := range values {
		at := uint32(v ^ uint16(sem.front(part)>>(64-partBits)))
		from := []byte{byte(part), byte(at >> 8), byte(at)}
		at++
		out[i] = [2][]byte{from, {byte(part) + byte(at>>partBits), byte(at >> 8), byte(at)}}
	}
	return out
}

func readNeighbour(key []byte, sem Sem) (n Neighbour, err error) {
	if len(key) < semHead || key[0] >= semParts {
		return n, errHash
	}
	if n, err = parseTail(key[semHead:]); err != nil {
		return n, err
	}
	n.Sem = Sem(binary.BigEndian.Uint64(key[1:])).front(semParts - int(key[0]))
	n.Distance = sem.Distance(n.Sem)
	return n, nil
}

// Sourced returns the digest, or else the fact, with a source, and whether there is one: the first of several by id. It
// does not return its hash.
func (t Tree) Sourced(ctx context.Context, source Source) (n Neighbour, ok bool, err error) {
	for e, err := range t.Hashes.ScanPrefix(ctx, append([]byte{bySource}, source[:]...)) {
		if err == nil {
			n, err = parseTail(e.Key[sourceHead:])
		}
		return n, err == nil, err
	}
	return n, false, nil
}

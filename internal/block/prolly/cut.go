package prolly

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// MaxEntries is the largest number of entries in a chunk. Cutting at the smallest of random hashes fills chunks
	// evenly from 1 to MaxEntries: 16.5 entries on average. At this size one-key edits write the fewest bytes
	// without deepening the tree (SPEC 2.2).
	MaxEntries = 32
	// MaxLevel is the highest level of a chunk. Honest trees of 2^63 entries end at level 15.
	MaxLevel = 63
)

// boundaryDomain keeps boundary hashes apart from every other use of sha2-256.
const boundaryDomain = "mnem:tree:"

// boundaryHash is h of SPEC 2.2. It uses buf as scratch space and returns it for reuse.
func boundaryHash(buf []byte, level int, key []byte) (uint64, []byte) {
	buf = append(append(append(buf[:0], boundaryDomain...), byte(level)), key...)
	sum := sha256.Sum256(buf)
	return binary.BigEndian.Uint64(sum[:8]), buf
}

// item is one entry of any level on its way into a chunk.
type item struct {
	key   []byte
	value []byte   // level 0
	link  ipld.CID // above level 0
	count uint64   // entries of level 0 below link, 1 at level 0
	hash  uint64   // set by the cutter
	from  *chunk   // the stored chunk that holds this same entry, nil if it is new
	edge  bool     // a stored chunk, not its level's last, ended here
	gone  bool     // an edit that removes key
}

// sameAs reports whether the item equals entry i of c, which has the same key.
func (it *item) sameAs(c *chunk, i int) bool {
	if c.level == 0 {
		return string(it.value) == string(c.values[i])
	}
	return it.link == c.links[i] && it.count == c.counts[i]
}

// cutter cuts the entries of one level into chunks, from left to right. It buffers at most MaxEntries+1 of them,
// which is all that the rule depends on from a chunk's start.
type cutter struct {
	level int
	last  uint64                   // hash of the key that ended the previous chunk, 0 at the start
	emit  func(items []item) error // called once for each chunk, in order; items belong to the cutter
	items []item
	low   int // index of the first smallest hash in items
	buf   []byte
}

// restart drops buffered entries; the next one begins a chunk after one that ended with hash last.
func (c *cutter) restart(last uint64) { c.items, c.last, c.low = c.items[:0], last, 0 }

func (c *cutter) add(it item) error {
	it.hash, c.buf = boundaryHash(c.buf, c.level, it.key)
	c.items = append(c.items, it)
	if len(c.items) > MaxEntries {
		if err := c.cutAt(c.low); err != nil {
			return err
		}
	}
	n := len(c.items) - 1
	if c.items[n].hash < c.last {
		return c.cutAt(n)
	}
	if c.items[n].hash < c.items[c.low].hash {
		c.low = n
	}
	return nil
}

// cutAt ends a chunk after items[i].
func (c *cutter) cutAt(i int) error {
	c.last = c.items[i].hash
	if err := c.emit(c.items[:i+1]); err != nil {
		return err
	}
	c.items = slices.Delete(c.items, 0, i+1)
	c.low = 0
	for j := range c.items {
		if c.items[j].hash < c.items[c.low].hash {
			c.low = j
		}
	}
	return nil
}

// finish ends the level: the buffered entries are its last chunk.
func (c *cutter) finish() error {
	if len(c.items) == 0 {
		return nil
	}
	return c.cutAt(len(c.items) - 1)
}

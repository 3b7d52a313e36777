package prolly

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Entry is one entry of a tree. Value is one canonical dag-cbor item.
type Entry struct{ Key, Value []byte }

// flushBytes is how much encoded data is collected for one Put: enough to make the number of batches unimportant,
// and small compared with any cache.
const flushBytes = 256 << 10

// writer encodes chunks and puts them in batches.
type writer struct {
	nodes  *Nodes
	buf    []byte
	blocks []store.Block
}

// add writes the chunk made of items and returns its entry in the level above.
func (w *writer) add(ctx context.Context, level int, items []item) (item, error) {
	if len(w.buf) >= flushBytes {
		if err := w.flush(ctx); err != nil {
			return item{}, err
		}
	}
	start := len(w.buf)
	w.buf = appendChunk(w.buf, level, items)
	block := store.NewBlock(ipld.DagCBOR, w.buf[start:])
	w.blocks = append(w.blocks, block)
	up := item{link: block.CID}
	for i := range items {
		up.count += items[i].count
	}
	if len(items) > 0 {
		up.key = items[len(items)-1].key
	}
	return up, nil
}

func (w *writer) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	if len(w.blocks) == 0 {
		return nil
	}
	if err := w.nodes.blocks.Put(ctx, w.blocks...); err != nil {
		return fmt.Errorf("write tree chunks: %w", err)
	}
	w.buf, w.blocks = w.buf[:0], w.blocks[:0]
	return nil
}

// builder cuts all levels from base upward in one pass, as entries of level base arrive.
type builder struct {
	ctx    context.Context
	w      *writer
	base   int
	levels []*builderLevel
}

type builderLevel struct {
	cutter
	chunks int
	newest item // the entry above of the newest chunk
}

func (b *builder) add(level int, it item) error {
	if level > MaxLevel {
		return fmt.Errorf("build tree: higher than level %d", MaxLevel)
	}
	if level-b.base == len(b.levels) {
		l := &builderLevel{cutter: cutter{level: level}}
		l.emit = func(items []item) error { return b.chunk(l, items) }
		b.levels = append(b.levels, l)
	}
	return b.levels[level-b.base].add(it)
}

func (b *builder) chunk(l *builderLevel, items []item) error {
	up, err := b.w.add(b.ctx, l.level, items)
	if err != nil {
		return err
	}
	l.chunks++
	l.newest = up
	return b.add(l.level+1, up)
}

// finish returns the root: the only chunk of the lowest level that has just one.
func (b *builder) finish() (ipld.CID, error) {
	if len(b.levels) == 0 {
		up, err := b.w.add(b.ctx, 0, nil)
		return up.link, err
	}
	for i := 0; ; i++ {
		l := b.levels[i]
		if err := l.finish(); err != nil {
			return ipld.CID{}, err
		}
		if l.chunks == 1 {
			return l.newest.link, nil
		}
	}
}

// Build writes the tree of the entries of seq, whose keys must ascend strictly, in memory proportional to the
// tree's height. It copies what it keeps, so seq may reuse its buffers. It returns an error of seq unchanged, and
// one that wraps ErrInput for an entry that no tree can hold.
func (n *Nodes) Build(ctx context.Context, seq iter.Seq2[Entry, error]) (*Map, error) {
	b := &builder{ctx: ctx, w: &writer{nodes: n}}
	var check inputChecker
	var copies slab
	for e, err := range seq {
		if err != nil {
			return nil, err
		}
		e = Entry{copies.copy(e.Key), copies.copy(e.Value)}
		if err := check.entry(e.Key, e.Value); err != nil {
			return nil, err
		}
		if err := b.add(0, item{key: e.Key, value: e.Value, count: 1}); err != nil {
			return nil, err
		}
	}
	return b.load()
}

func (b *builder) load() (*Map, error) {
	root, err := b.finish()
	if err != nil {
		return nil, err
	}
	if err := b.w.flush(b.ctx); err != nil {
		return nil, err
	}
	return b.w.nodes.Load(b.ctx, root)
}

// inputChecker checks a caller's entries in sequence.
type inputChecker struct {
	last    []byte
	started bool
	buf     []byte
}

func (c *inputChecker) key(key []byte) error {
	if len(key) > MaxKey {
		return fmt.Errorf("%w: key of %d bytes, limit %d", ErrInput, len(key), MaxKey)
	}
	if c.started && bytes.Compare(c.last, key) >= 0 {
		return fmt.Errorf("%w: key %x… does not ascend", ErrInput, key[:min(len(key), 32)])
	}
	c.last, c.started = key, true
	return nil
}

func (c *inputChecker) entry(key, value []byte) error {
	if err := c.key(key); err != nil {
		return err
	}
	if len(value) > MaxValue {
		return fmt.Errorf("%w: value of %d bytes, limit %d", ErrInput, len(value), MaxValue)
	}
	var err error
	if c.buf, err = checkInside(c.buf, value); err != nil {
		return fmt.Errorf("%w: value of key %x…: %w", ErrInput, key[:min(len(key), 32)], err)
	}
	return nil
}

// edit checks the key of an edit, and its value if it has one.
func (c *inputChecker) edit(e Edit) error {
	if e.Value == nil {
		return c.key(e.Key)
	}
	return c.entry(e.Key, e.Value)
}

// slab copies byte strings into shared allocations.
type slab struct{ free []byte }

// slabBytes bounds the memory that one retained key can keep alive.
const slabBytes = 16 << 10

func (s *slab) copy(b []byte) []byte {
	if len(b) > cap(s.free)-len(s.free) {
		s.free = make([]byte, 0, max(slabBytes, len(b)))
	}
	start := len(s.free)
	s.free = append(s.free, b...)
	return s.free[start:len(s.free):len(s.free)]
}

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

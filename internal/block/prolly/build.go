package prolly

import (
	"bytes"
	"context"
	"fmt"
	"iter"

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

// load finishes the build and returns the tree.
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

// entry checks a key and a value.
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

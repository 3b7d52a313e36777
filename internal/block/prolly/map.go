package prolly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Map is one tree: an immutable ordered map. Safe for concurrent use.
type Map struct {
	nodes *Nodes
	root  *chunk
}

// Root returns the CID of the root chunk, which identifies the mapping.
func (m *Map) Root() ipld.CID { return m.root.cid }

// Len returns the number of entries.
func (m *Map) Len() uint64 { return m.root.total }

// Height returns the number of levels, at least 1.
func (m *Map) Height() int { return m.root.level + 1 }

// Get returns the value of key, a read-only view that may be kept, and whether the key exists.
func (m *Map) Get(ctx context.Context, key []byte) (value []byte, ok bool, err error) {
	c := m.root
	for {
		i := c.find(key)
		if i == len(c.keys) {
			return nil, false, ctx.Err()
		}
		if c.level == 0 {
			if !bytes.Equal(c.keys[i], key) {
				return nil, false, ctx.Err()
			}
			return c.values[i], true, ctx.Err()
		}
		if c, err = m.nodes.child(ctx, c, i); err != nil {
			return nil, false, err
		}
	}
}

// At returns entry i in key order, counted from 0, and whether it exists. It reads one chunk a level.
func (m *Map) At(ctx context.Context, i uint64) (Entry, bool, error) {
	c := m.root
	if i >= c.total {
		return Entry{}, false, ctx.Err()
	}
	for c.level > 0 {
		k := 0
		for ; i >= c.counts[k]; k++ {
			i -= c.counts[k]
		}
		var err error
		if c, err = m.nodes.child(ctx, c, k); err != nil {
			return Entry{}, false, err
		}
	}
	return Entry{c.keys[i], c.values[i]}, true, ctx.Err()
}

// Count returns the number of entries with from <= key < to; nil is unbounded. It reads at most two chunks a level,
// and only one if both ends are in the same chunk.
func (m *Map) Count(ctx context.Context, from, to []byte) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if to != nil && bytes.Compare(from, to) >= 0 {
		return 0, nil
	}
	c := m.root
	for c.level > 0 {
		i, j := c.find(from), len(c.keys)
		if to != nil {
			j = c.find(to)
		}
		if i != j || i == len(c.keys) {
			break
		}
		var err error
		if c, err = m.nodes.child(ctx, c, i); err != nil {
			return 0, err
		}
	}
	high, err := c.total, error(nil)
	if to != nil {
		high, err = m.rank(ctx, c, to)
	}
	if err != nil || from == nil {
		return high, err
	}
	low, err := m.rank(ctx, c, from)
	return high - low, err
}

// rank returns the number of entries in and below c whose key is less than key.
func (m *Map) rank(ctx context.Context, c *chunk, key []byte) (n uint64, err error) {
	for {
		i := c.find(key)
		if c.level == 0 {
			return n + uint64(i), nil
		}
		for _, below := range c.counts[:i] {
			n += below
		}
		if i == len(c.keys) {
			return n, nil
		}
		if c, err = m.nodes.child(ctx, c, i); err != nil {
			return 0, err
		}
	}
}

// Blocks reads and writes the blocks of chunks. Every block store implements it.
type Blocks interface {
	store.Getter
	store.Putter
}

// Nodes reads and writes the chunks of trees. Safe for concurrent use.
type Nodes struct {
	blocks Blocks
	cache  *Cache
}

// NewNodes returns Nodes over b that cache decoded chunks in c, or read each chunk again if c is nil.
func NewNodes(b Blocks, c *Cache) *Nodes { return &Nodes{blocks: b, cache: c} }

// Load returns the tree with the given root. It reads the root chunk only; reads further down, or Check, find
// damage below it.
func (n *Nodes) Load(ctx context.Context, root ipld.CID) (*Map, error) {
	c, _, err := n.load(ctx, root)
	if err != nil {
		return nil, err
	}
	if c.level > 0 && len(c.keys) < 2 {
		return nil, misshapen(root, "a root above level 0 with one entry")
	}
	return &Map{nodes: n, root: c}, nil
}

// load returns a chunk and its cache entry, if there is one.
func (n *Nodes) load(ctx context.Context, id ipld.CID) (*chunk, *cached, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("read tree: %w", err)
	}
	place := n.cache.get(id)
	if c := place.get(); c != nil {
		return c, place, nil
	}
	block, err := n.blocks.Get(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("read tree chunk %s: %w", id, err)
	}
	c, err := decodeChunk(id, block)
	if err != nil {
		return nil, nil, err
	}
	place = n.cache.put(c)
	if same := place.get(); same != nil {
		c = same // another reader cached it first
	}
	return c, place, nil
}

// child returns the chunk that entry i of c links to, after checking that it fits there.
func (n *Nodes) child(ctx context.Context, c *chunk, i int) (*chunk, error) {
	known := c.home != nil && c.home == n.cache
	if known {
		if k := c.below[i].Load().get(); k != nil {
			return k, nil
		}
	}
	k, place, err := n.load(ctx, c.links[i])
	if err != nil {
		return nil, err
	}
	switch {
	case k.level != c.level-1:
		return nil, misshapen(k.cid, "level %d below level %d", k.level, c.level)
	case k.total != c.counts[i]:
		return nil, misshapen(k.cid, "%d entries, its parent counts %d", k.total, c.counts[i])
	case !bytes.Equal(k.lastKey(), c.keys[i]):
		return nil, misshapen(k.cid, "last key is not the one its parent has")
	case i > 0 && bytes.Compare(k.keys[0], c.keys[i-1]) <= 0:
		return nil, misshapen(k.cid, "first key is not above the chunk before")
	}
	if known {
		c.below[i].Store(place)
	}
	return k, nil
}

// Scan returns the entries with from <= key < to in key order; nil is unbounded. Entries are read-only views that
// may be kept. An error ends the sequence, which may be ranged over repeatedly.
func (m *Map) Scan(ctx context.Context, from, to []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		cu := newCursor(m, 0)
		err := cu.seek(ctx, from)
		for more := true; more && err == nil; more, err = cu.move(ctx, 1) {
			c, i := cu.chunk(), cu.top().i
			for ; i < len(c.keys); i++ {
				if to != nil && bytes.Compare(c.keys[i], to) >= 0 {
					return
				}
				if !yield(Entry{c.keys[i], c.values[i]}, nil) {
					return
				}
			}
			if err = ctx.Err(); err != nil {
				break
			}
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// ScanPrefix returns the entries whose key begins with prefix, in key order.
func (m *Map) ScanPrefix(ctx context.Context, prefix []byte) iter.Seq2[Entry, error] {
	return m.Scan(ctx, prefix, PrefixEnd(prefix))
}

// PrefixEnd returns the least key above all keys that begin with prefix, or nil if there is none.
func PrefixEnd(prefix []byte) []byte {
	n := len(prefix)
	for n > 0 && prefix[n-1] == 0xff {
		n--
	}
	if n == 0 {
		return nil
	}
	end := bytes.Clone(prefix[:n])
	end[n-1]++
	return end
}

// ErrInput is returned when no tree can hold a caller's entries or edits: keys that do not ascend, a key or value
// outside its limits, a value that is not one canonical item.
var ErrInput = errors.New("invalid tree entry")

// ShapeError is returned when a tree links to a block that is not the chunk that belongs there. errors.Is(err,
// store.ErrCorrupt) holds, and errors.Is(err, ipld.ErrInvalid) if the bytes did not decode.
type ShapeError struct {
	CID    ipld.CID // the chunk at fault
	Reason string
	Err    error // why decoding failed, or nil
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("tree chunk %s: %s", e.CID, e.Reason)
}

// Is reports whether target is store.ErrCorrupt.
func (e *ShapeError) Is(target error) bool { return target == store.ErrCorrupt }

// Unwrap returns Err.
func (e *ShapeError) Unwrap() error { return e.Err }

func misshapen(c ipld.CID, format string, args ...any) error {
	return &ShapeError{CID: c, Reason: fmt.Sprintf(format, args...)}
}

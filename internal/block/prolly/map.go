package prolly

import (
	"bytes"
	"context"

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

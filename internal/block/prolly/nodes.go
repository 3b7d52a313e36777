package prolly

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

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

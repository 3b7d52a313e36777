package prolly

import (
	"bytes"
	"context"

	"github.com/mnem-project/mnem/ipld"
)

// Beyond walks the chunks and entries of m that none of others has at the same place. It calls chunk with each such
// chunk, parents before children and in key order, and entry with each such entry, after its chunk. If chunk
// returns false, the subtree below is skipped. For trees of one history, these are exactly the blocks that a holder
// of the others lacks. It reads the chunks it yields and those of the others that cover the same keys. The first
// error of a callback ends the walk and is returned unchanged.
func (m *Map) Beyond(
	ctx context.Context, others []*Map,
	chunk func(ipld.CID) (descend bool, err error), entry func(Entry) error,
) error {
	b := beyond{ctx: ctx, others: others, chunk: chunk, entry: entry}
	known, err := b.known(m.root.level, m.root.lastKeyOrNil(), m.root.cid)
	if err != nil || known {
		return err
	}
	descend, err := chunk(m.root.cid)
	if err != nil || !descend {
		return err
	}
	return b.below(m.nodes, m.root)
}

type beyond struct {
	ctx    context.Context
	others []*Map
	chunk  func(ipld.CID) (bool, error)
	entry  func(Entry) error
}

// lastKeyOrNil is lastKey, but returns nil for the empty chunk.
func (c *chunk) lastKeyOrNil() []byte {
	if len(c.keys) == 0 {
		return nil
	}
	return c.lastKey()
}

// below walks the children of a chunk that the others lack. The recursion is as deep as the tree.
func (b *beyond) below(nodes *Nodes, c *chunk) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	for i, key := range c.keys {
		if c.level == 0 {
			if err := b.one(Entry{key, c.values[i]}); err != nil {
				return err
			}
			continue
		}
		known, err := b.known(c.level-1, key, c.links[i])
		if err != nil {
			return err
		}
		if known {
			continue
		}
		descend, err := b.chunk(c.links[i])
		if err != nil {
			return err
		}
		if !descend {
			continue
		}
		k, err := nodes.child(b.ctx, c, i)
		if err != nil {
			return err
		}
		if err := b.below(nodes, k); err != nil {
			return err
		}
	}
	return nil
}

// one yields an entry unless one of the others has it.
func (b *beyond) one(e Entry) error {
	for _, o := range b.others {
		value, ok, err := o.Get(b.ctx, e.Key)
		if err != nil {
			return err
		}
		if ok && bytes.Equal(value, e.Value) {
			return nil
		}
	}
	return b.entry(e)
}

// known reports whether one of the others has the chunk id at the same level and key.
func (b *beyond) known(level int, key []byte, id ipld.CID) (bool, error) {
	for _, o := range b.others {
		at, err := o.chunkAt(b.ctx, level, key)
		if err != nil || at == id {
			return err == nil, err
		}
	}
	return false, nil
}

// chunkAt returns the chunk of a level that covers a key, or an undefined CID if there is none.
func (m *Map) chunkAt(ctx context.Context, level int, key []byte) (at ipld.CID, err error) {
	c := m.root
	if c.level < level {
		return at, nil
	}
	for c.level > level {
		i := c.find(key)
		if i == len(c.keys) {
			return at, nil
		}
		if c.level == level+1 {
			return c.links[i], nil
		}
		if c, err = m.nodes.child(ctx, c, i); err != nil {
			return at, err
		}
	}
	return c.cid, nil
}

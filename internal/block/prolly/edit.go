package prolly

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// Edit is one change of a tree: a nil Value deletes Key, any other value is stored under it. Deleting an absent key
// changes nothing, nor does storing the value already present.
type Edit struct{ Key, Value []byte }

// editCacheBytes is the size of the temporary cache of an edit without one, so that it reads upper chunks once a level.
const editCacheBytes = 4 << 20

// Edit returns the tree with edits applied, or the tree itself if they change nothing. Keys of edits must ascend
// strictly. It writes the chunks that the tree does not have yet, each level in order, and reads their neighbors.
// It returns an error that wraps ErrInput for an edit that cannot be applied. Blocks written before an error are
// unreferenced garbage.
func (m *Map) Edit(ctx context.Context, edits []Edit) (*Map, error) {
	if m.Len() == 0 {
		return m.Fill(ctx, slices.Values(edits))
	}
	items, err := editItems(edits)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("write tree: %w", err)
	}
	nodes := m.nodes
	if nodes.cache == nil {
		nodes = NewNodes(nodes.blocks, NewCache(editCacheBytes))
	}
	w := &writer{nodes: nodes}
	old := &Map{nodes: nodes, root: m.root}
	for l := 0; l <= m.root.level && len(items) > 0; l++ {
		if items, err = rechunk(ctx, w, old, l, items); err != nil {
			return nil, err
		}
	}
	if len(items) == 0 {
		return m, nil
	}
	root, err := newRoot(ctx, w, m.root, items)
	if err != nil {
		return nil, err
	}
	return &Map{nodes: m.nodes, root: root}, nil
}

// Fill is Edit for an empty tree. The edits arrive one by one, and their keys and values must stay unchanged until Fill
// returns: it refers to them instead of copying. It returns an error that wraps ErrInput if the tree is not empty.
func (m *Map) Fill(ctx context.Context, edits iter.Seq[Edit]) (*Map, error) {
	if m.Len() > 0 {
		return nil, fmt.Errorf("%w: tree to fill has %d entries", ErrInput, m.Len())
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("write tree: %w", err)
	}
	b := &builder{ctx: ctx, w: &writer{nodes: m.nodes}}
	var check inputChecker
	for e := range edits {
		if err := check.edit(e); err != nil {
			return nil, err
		}
		if e.Value == nil {
			continue
		}
		if err := b.add(0, item{key: e.Key, value: e.Value, count: 1}); err != nil {
			return nil, err
		}
	}
	if len(b.levels) == 0 {
		return m, nil
	}
	return b.load()
}

func editItems(edits []Edit) ([]item, error) {
	var check inputChecker
	items := make([]item, len(edits))
	for i, e := range edits {
		if err := check.edit(e); err != nil {
			return nil, err
		}
		items[i] = item{key: e.Key, value: e.Value, count: 1, gone: e.Value == nil}
	}
	return items, nil
}

// newRoot builds the levels above the old root from the changes of its own entry there, and returns the new root.
func newRoot(ctx context.Context, w *writer, old *chunk, changes []item) (*chunk, error) {
	base := old.level + 1
	up := old.parentItem()
	at, replaced := slices.BinarySearchFunc(changes, up.key, func(it item, key []byte) int {
		return bytes.Compare(it.key, key)
	})
	if !replaced {
		changes = slices.Insert(changes, at, up)
	}
	entries := slices.DeleteFunc(changes, func(it item) bool { return it.gone })
	if len(entries) == 1 {
		return collapse(ctx, w, entries[0].link)
	}
	b := &builder{ctx: ctx, w: w, base: base}
	for _, it := range entries {
		if err := b.add(base, it); err != nil {
			return nil, err
		}
	}
	m, err := b.load()
	if err != nil {
		return nil, err
	}
	return m.root, nil
}

// collapse returns the lowest chunk under root that holds all entries.
func collapse(ctx context.Context, w *writer, root ipld.CID) (*chunk, error) {
	if err := w.flush(ctx); err != nil {
		return nil, err
	}
	c, _, err := w.nodes.load(ctx, root)
	for err == nil && c.level > 0 && len(c.keys) == 1 {
		c, err = w.nodes.child(ctx, c, 0)
	}
	return c, err
}

package repo

import (
	"bytes"
	"context"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// vectors merges the embeddings, which follow their nodes: one stays where a side has it with the
// very node that was merged, or where it is of the merged node's text.
func (m *stateMerge) vectors() (err error) {
	m.out.vectors, err = prolly.Merge(m.ctx, m.base.vectors, m.ours.vectors, m.theirs.vectors,
		func(c prolly.Conflict) ([]byte, error) {
			if m.virtual {
				return c.Base, nil
			}
			item, err := m.fitter().choose(c.Key, c.Left, c.Right)
			if err == nil && item == nil {
				m.drop(c.Key)
			}
			return item, err
		})
	if err != nil || m.virtual || m.out.vectors.Len() == 0 {
		return err
	}
	drop := make(map[string]bool)
	for c, err := range prolly.Diff(m.ctx, m.ours.nodes, m.out.nodes) {
		if err != nil {
			return err
		}
		for kv, err := range m.out.vectors.ScanPrefix(m.ctx, c.Key) {
			if err == nil {
				err = m.check(kv.Key, kv.Value, drop)
			}
			if err != nil {
				return err
			}
		}
	}
	for c, err := range prolly.Diff(m.ctx, m.ours.vectors, m.out.vectors) {
		if err == nil && c.New != nil {
			err = m.check(c.Key, c.New, drop)
		}
		if err != nil {
			return err
		}
	}
	m.out.vectors, err = m.out.vectors.Edit(m.ctx, removals(drop))
	return err
}

func (m *stateMerge) fitter() fitter {
	return fitter{m.ctx, m.stage, m.ours, m.theirs, func(id []byte) ([]byte, error) {
		item, _, err := m.out.nodes.Get(m.ctx, id)
		return item, err
	}}
}

// check notes a merged embedding that does not stay.
func (m *stateMerge) check(key, item []byte, drop map[string]bool) error {
	if drop[string(key)] {
		return nil
	}
	chosen, err := m.fitter().choose(key, item, nil)
	if err == nil && chosen == nil {
		drop[string(key)] = true
		m.drop(key)
	}
	return err
}

// drop counts an embedding that does not stay. Those of a node in conflict are settled with it.
func (m *stateMerge) drop(key []byte) {
	if !m.inConflict(need{graph.OnNode, graph.ID(key[:graph.IDLen])}) {
		m.dropped++
	}
}

// fitter tells which embeddings belong to a merged node.
type fitter struct {
	ctx          context.Context
	get          store.Getter
	ours, theirs *state
	node         func(id []byte) (item []byte, err error) // the merged node, nil for none
}

// choose returns the one of two embeddings, nil being none, that may stay: of two the one with
// the smaller CID.
func (f fitter) choose(key, a, b []byte) ([]byte, error) {
	node, err := f.node(key[:graph.IDLen])
	if err != nil || node == nil {
		return nil, err
	}
	var best []byte
	for _, item := range [][]byte{a, b} {
		if item == nil || best != nil && bytes.Compare(best, item) <= 0 {
			continue
		}
		ok, err := f.stays(key, item, node)
		if err != nil {
			return nil, err
		}
		if ok {
			best = item
		}
	}
	return best, nil
}

func (f fitter) stays(key, item, node []byte) (bool, error) {
	for _, side := range []*state{f.ours, f.theirs} {
		has, _, err := side.vectors.Get(f.ctx, key)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(has, item) {
			continue
		}
		of, _, err := side.nodes.Get(f.ctx, key[:graph.IDLen])
		if err != nil {
			return false, err
		}
		if bytes.Equal(of, node) {
			return true, nil
		}
	}
	c, err := linkItem(node)
	if err != nil {
		return false, err
	}
	n, err := commit.ReadNode(f.ctx, f.get, c)
	if err != nil {
		return false, err
	}
	text, err := contentText(f.ctx, f.get, n.Content)
	if err != nil {
		return false, err
	}
	return f.fits(item, graph.TextHash(n, text))
}

// fits reports whether an embedding is of the text with a hash.
func (f fitter) fits(item []byte, text [32]byte) (bool, error) {
	var c ipld.CID
	c, err := linkItem(item)
	if err != nil {
		return false, err
	}
	e, err := commit.ReadEmbedding(f.ctx, f.get, c)
	return err == nil && e.Text == text, err
}

// vectorKeys returns the keys of a node's embeddings in any of the states, in order.
func vectorKeys(ctx context.Context, id graph.ID, states ...*state) ([][]byte, error) {
	var keys [][]byte
	for _, s := range states {
		for kv, err := range s.vectors.ScanPrefix(ctx, id[:]) {
			if err != nil {
				return nil, err
			}
			keys = append(keys, kv.Key)
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal), nil
}

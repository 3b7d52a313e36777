package merge3

import (
	"bytes"
	"context"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// vectors merges the embeddings, which follow their nodes: an embedding stays if its side has the very node that
// was merged, or if it embeds the merged node's text.
func (m *StateMerge) vectors() (err error) {
	m.out.Vectors, err = prolly.Merge(m.Ctx, m.Base.Vectors, m.Ours.Vectors, m.Theirs.Vectors,
		func(c prolly.Conflict) ([]byte, error) {
			if m.Virtual {
				return c.Base, nil
			}
			item, err := m.fitter().Choose(c.Key, c.Left, c.Right)
			if err == nil && item == nil {
				m.drop(c.Key)
			}
			return item, err
		})
	if err != nil || m.Virtual || m.out.Vectors.Len() == 0 {
		return err
	}
	drop := make(map[string]bool)
	for c, err := range prolly.Diff(m.Ctx, m.Ours.Nodes, m.out.Nodes) {
		if err != nil {
			return err
		}
		for kv, err := range m.out.Vectors.ScanPrefix(m.Ctx, c.Key) {
			if err == nil {
				err = m.check(kv.Key, kv.Value, drop)
			}
			if err != nil {
				return err
			}
		}
	}
	for c, err := range prolly.Diff(m.Ctx, m.Ours.Vectors, m.out.Vectors) {
		if err == nil && c.New != nil {
			err = m.check(c.Key, c.New, drop)
		}
		if err != nil {
			return err
		}
	}
	m.out.Vectors, err = m.out.Vectors.Edit(m.Ctx, removals(drop))
	return err
}

func (m *StateMerge) fitter() Fitter {
	return Fitter{m.Ctx, m.Stage, m.Ours, m.Theirs, func(id []byte) ([]byte, error) {
		item, _, err := m.out.Nodes.Get(m.Ctx, id)
		return item, err
	}}
}

// check records a merged embedding that does not stay.
func (m *StateMerge) check(key, item []byte, drop map[string]bool) error {
	if drop[string(key)] {
		return nil
	}
	chosen, err := m.fitter().Choose(key, item, nil)
	if err == nil && chosen == nil {
		drop[string(key)] = true
		m.drop(key)
	}
	return err
}

// drop counts an embedding that does not stay. Resolving a node in conflict settles its embeddings.
func (m *StateMerge) drop(key []byte) {
	if !m.inConflict(state.Need{On: graph.OnNode, Id: graph.ID(key[:graph.IDLen])}) {
		m.dropped++
	}
}

// Fitter decides which embeddings belong to a merged node.
type Fitter struct {
	Ctx          context.Context
	Get          store.Getter
	Ours, Theirs *state.State
	Node         func(id []byte) (item []byte, err error) // the merged node, nil for none
}

// Choose returns which of two embeddings stays, nil being none: if both may, the one with the smaller CID.
func (f Fitter) Choose(key, a, b []byte) ([]byte, error) {
	node, err := f.Node(key[:graph.IDLen])
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

func (f Fitter) stays(key, item, node []byte) (bool, error) {
	for _, side := range []*state.State{f.Ours, f.Theirs} {
		has, _, err := side.Vectors.Get(f.Ctx, key)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(has, item) {
			continue
		}
		of, _, err := side.Nodes.Get(f.Ctx, key[:graph.IDLen])
		if err != nil {
			return false, err
		}
		if bytes.Equal(of, node) {
			return true, nil
		}
	}
	c, err := state.LinkItem(node)
	if err != nil {
		return false, err
	}
	n, err := commit.ReadNode(f.Ctx, f.Get, c)
	if err != nil {
		return false, err
	}
	text, err := state.ContentText(f.Ctx, f.Get, n.Content)
	if err != nil {
		return false, err
	}
	return f.fits(item, graph.TextHash(n, text))
}

// fits reports whether an embedding belongs to the text with the given hash.
func (f Fitter) fits(item []byte, text [32]byte) (bool, error) {
	var c ipld.CID
	c, err := state.LinkItem(item)
	if err != nil {
		return false, err
	}
	e, err := commit.ReadEmbedding(f.Ctx, f.Get, c)
	return err == nil && e.Text == text, err
}

// VectorKeys returns the keys of a node's embeddings in any of the states, in order.
func VectorKeys(ctx context.Context, id graph.ID, states ...*state.State) ([][]byte, error) {
	var keys [][]byte
	for _, s := range states {
		for kv, err := range s.Vectors.ScanPrefix(ctx, id[:]) {
			if err != nil {
				return nil, err
			}
			keys = append(keys, kv.Key)
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal), nil
}

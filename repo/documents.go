package repo

import (
	"context"
	"errors"
	"iter"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/internal/parallel"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

const (
	// documentGroup is how many nodes are read at a time for an index, documentGroups how many such
	// groups are read ahead at most. Long contents are read one at a time.
	documentGroup  = 16
	documentGroups = 8
)

// documentRead is a node that differs between two states, as far as it was read ahead.
type documentRead struct {
	prolly.Change
	change index.Change
	err    error
}

// documents yields the nodes that differ between two states, in id order, as the index wants them.
// New nodes that a draft has are not read, and others on several goroutines.
func documents(
	ctx context.Context, from, to *state, draft *index.Draft,
) iter.Seq2[index.Change, error] {
	limit := parallel.Limit[[]documentRead]{
		Bytes: documentGroups, Size: func([]documentRead) int { return 1 },
	}
	groups := parallel.Map(groupNodes(ctx, from, to), limit, func(g []documentRead) []documentRead {
		for i := range g {
			if g[i].err == nil {
				g[i].err = g[i].read(ctx, from, to, draft)
			}
		}
		return g
	})
	return func(yield func(index.Change, error) bool) {
		for group := range groups {
			for i := range group {
				r := &group[i]
				if r.err == nil {
					r.err = r.complete(ctx, from, to)
				}
				if r.err == nil && r.change.Old == nil && r.change.New == nil && r.change.Analysed == nil {
					continue
				}
				if !yield(r.change, r.err) || r.err != nil {
					return
				}
			}
		}
	}
}

// groupNodes yields the nodes that differ a few at a time, up to the first error.
func groupNodes(ctx context.Context, from, to *state) iter.Seq[[]documentRead] {
	return func(yield func([]documentRead) bool) {
		var group []documentRead
		for c, err := range prolly.Diff(ctx, from.nodes, to.nodes) {
			group = append(group, documentRead{Change: c, err: err})
			if err != nil {
				break
			}
			if len(group) == documentGroup {
				if !yield(group) {
					return
				}
				group = make([]documentRead, 0, documentGroup)
			}
		}
		if len(group) > 0 {
			yield(group)
		}
	}
}

func (r *documentRead) read(ctx context.Context, from, to *state, draft *index.Draft) (err error) {
	r.change.ID = graph.ID(r.Key)
	if draft != nil && r.Old == nil {
		link, err := linkItem(r.New)
		if err != nil {
			return err
		}
		if r.change.Analysed = draft.Find(link); r.change.Analysed != nil {
			return nil
		}
	}
	if r.change.Old, err = from.readDocument(ctx, r.Old); err != nil {
		return err
	}
	r.change.New, err = to.readDocument(ctx, r.New)
	return err
}

func (r *documentRead) complete(ctx context.Context, from, to *state) (err error) {
	if r.change.Old, err = from.completeDocument(ctx, r.change.Old); err != nil {
		return err
	}
	r.change.New, err = to.completeDocument(ctx, r.change.New)
	return err
}

// readDocument returns the node that an item of the tree links to, nil for no item and a node that
// was erased. A content in blocks of its own is left out.
func (s *state) readDocument(ctx context.Context, item []byte) (*index.Document, error) {
	if item == nil {
		return nil, nil
	}
	c, err := linkItem(item)
	if err != nil {
		return nil, err
	}
	n, err := commit.ReadNode(ctx, s.get, c)
	if errors.Is(err, store.ErrRedacted) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := &index.Document{Node: n}
	if n.Content != nil {
		d.Content = n.Content.Text
	}
	return d, nil
}

// completeDocument adds the content that was left out. A document without it, which was erased, is
// none.
func (s *state) completeDocument(ctx context.Context, d *index.Document) (*index.Document, error) {
	if d == nil || d.Node.Content == nil || len(d.Node.Content.Chunks) == 0 {
		return d, nil
	}
	var err error
	d.Content, err = s.content(ctx, d.Node.Content)
	if errors.Is(err, store.ErrRedacted) {
		return nil, nil
	}
	return d, err
}

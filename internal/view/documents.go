package view

import (
	"context"
	"errors"
	"iter"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/index"
)

const (
	// documentGroup is how many nodes are read at a time for an index, documentGroups how many such
	// groups are read ahead at most. Long contents are read one at a time.
	documentGroup  = 16
	documentGroups = 8
)

// documentRead is a node that differs between two states, with the parts that were read ahead.
type documentRead struct {
	prolly.Change
	change index.Change
	sum    uint64 // of the new document, if it is known; then it is not read
	err    error
}

func (r *documentRead) found() bool { return r.change.Analysed != nil || r.sum != 0 }

// documents yields the nodes that differ between two states, in id order, as the index wants them.
// New nodes that a draft has are not read, and others on several goroutines.
func documents(ctx context.Context, from, to *state.State, f state.Fresh) iter.Seq2[index.Change, error] {
	changes := prolly.Diff(ctx, from.Nodes, to.Nodes)
	if from.Nodes.Len() == 0 {
		changes = added(f.Trees.Scan(ctx, to.Nodes))
	}
	return func(yield func(index.Change, error) bool) {
		find := func(r *documentRead) error { return r.draft(f.Draft) }
		for r := range documentReads(ctx, from, to, changes, find) {
			if !yield(r.change, r.err) {
				return
			}
		}
	}
}

// wantedDocuments yields the documents of a state in id order. Of known documents it yields only the entry that an
// index must have.
func wantedDocuments(
	ctx context.Context, s *state.State, scan scanner, known *KnownRecords,
) iter.Seq2[index.Wanted, error] {
	find := func(r *documentRead) error {
		r.sum, _ = known.Has(state.RoleNode, r.Key, r.New)
		return nil
	}
	return func(yield func(index.Wanted, error) bool) {
		for r := range documentReads(ctx, s, s, added(scan(ctx, s.Nodes)), find) {
			if !yield(index.Wanted{ID: r.change.ID, Sum: r.sum, Document: r.change.New}, r.err) {
				return
			}
		}
	}
}

// added yields entries as changes of what did not have them.
func added(entries iter.Seq2[prolly.Entry, error]) iter.Seq2[prolly.Change, error] {
	return mapped(entries, func(kv prolly.Entry) (prolly.Change, bool, error) {
		return prolly.Change{Key: kv.Key, New: kv.Value}, true, nil
	})
}

// documentReads yields the nodes of changes between two states, in their order, up to the first error. What
// find finds is not read.
func documentReads(
	ctx context.Context, from, to *state.State, changes iter.Seq2[prolly.Change, error],
	find func(*documentRead) error,
) iter.Seq[*documentRead] {
	limit := parallel.Limit[[]documentRead]{
		Bytes: documentGroups, Size: func([]documentRead) int { return 1 },
	}
	groups := parallel.Map(groupNodes(changes), limit, func(g []documentRead) []documentRead {
		for i := range g {
			if g[i].err == nil {
				g[i].err = g[i].read(ctx, from, to, find)
			}
		}
		return g
	})
	return func(yield func(*documentRead) bool) {
		for group := range groups {
			for i := range group {
				r := &group[i]
				if r.err == nil {
					r.err = r.complete(ctx, from, to)
				}
				if r.err == nil && !r.found() && r.change.Old == nil && r.change.New == nil {
					continue
				}
				if !yield(r) || r.err != nil {
					return
				}
			}
		}
	}
}

// groupNodes yields nodes that differ a few at a time, up to the first error.
func groupNodes(changes iter.Seq2[prolly.Change, error]) iter.Seq[[]documentRead] {
	return func(yield func([]documentRead) bool) {
		var group []documentRead
		for c, err := range changes {
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

func (r *documentRead) draft(draft *index.Draft) error {
	if draft == nil || r.Old != nil {
		return nil
	}
	link, err := state.LinkItem(r.New)
	if err == nil {
		r.change.Analysed, err = draft.Find(link)
	}
	return err
}

func (r *documentRead) read(ctx context.Context, from, to *state.State, find func(*documentRead) error) (err error) {
	r.change.ID = graph.ID(r.Key)
	if err := find(r); err != nil || r.found() {
		return err
	}
	if r.change.Old, err = readDocument(ctx, from, r.Old); err != nil {
		return err
	}
	r.change.New, err = readDocument(ctx, to, r.New)
	return err
}

func (r *documentRead) complete(ctx context.Context, from, to *state.State) (err error) {
	if r.change.Old, err = completeDocument(ctx, from, r.change.Old); err != nil {
		return err
	}
	r.change.New, err = completeDocument(ctx, to, r.change.New)
	return err
}

// readDocument returns the node that an item of the tree links to, nil for no item and for an erased node. It leaves
// out content in separate blocks.
func readDocument(ctx context.Context, s *state.State, item []byte) (*index.Document, error) {
	if item == nil {
		return nil, nil
	}
	c, err := state.LinkItem(item)
	if err != nil {
		return nil, err
	}
	n, err := commit.ReadNode(ctx, s.Get, c)
	if errors.Is(err, store.ErrRedacted) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return newDocument(n), nil
}

// newDocument returns a node as the index needs it, without content in separate blocks.
func newDocument(n *graph.Node) *index.Document {
	d := &index.Document{Node: n}
	if n.Content != nil {
		d.Content = n.Content.Text
	}
	return d
}

// completeDocument adds the content that was left out. A document without it, which was erased, is none.
func completeDocument(ctx context.Context, s *state.State, d *index.Document) (*index.Document, error) {
	if d == nil || d.Node.Content == nil || len(d.Node.Content.Chunks) == 0 {
		return d, nil
	}
	var err error
	d.Content, err = s.Content(ctx, d.Node.Content)
	if errors.Is(err, store.ErrRedacted) {
		return nil, nil
	}
	return d, err
}

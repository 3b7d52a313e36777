package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/heap"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// markField is the field name of a node's mark.
const markField = "mark"

// FieldBlame says which commit last set a field of a node. Properties are named props.NAME, and the node's mark is
// the field "mark".
type FieldBlame struct {
	Field  string
	CID    ipld.CID
	Commit *commit.Commit
}

// Blame returns for each field of a node, in the order of clause 16.1, the commit that last set its value at a
// revision. A merge set the values that none of its parents has. It goes back through history until all fields are
// found and reads one path of the tree of nodes for each commit. It returns a *state.NotFoundError if there is no
// such node.
func Blame(ctx context.Context, s *core.Snapshot, id graph.ID) ([]FieldBlame, error) {
	b := blame{ctx: ctx, repo: s.Repo, id: id, open: make(map[ipld.CID]*blamed)}
	if s.Record == nil {
		return nil, &state.NotFoundError{What: "node", Name: id.String()}
	}
	at, err := b.at(s.Id)
	if err == nil && !at.node.Defined() {
		err = &state.NotFoundError{What: "node", Name: id.String()}
	}
	if err != nil {
		return nil, err
	}
	if at.fields, err = b.fields(at); err != nil {
		return nil, err
	}
	b.push(at)
	for len(b.next) > 0 {
		if err := b.settle(heap.Pop(&b.next, (*blamed).higher)); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(b.found, func(x, y FieldBlame) int { return compareFields(x.Field, y.Field) })
	return b.found, nil
}

// compareFields compares fields by display order.
func compareFields(a, b string) int {
	rank := func(name string) int {
		i := slices.Index(state.FieldOrder, name)
		switch {
		case name == markField:
			return len(state.FieldOrder)
		case i < 0:
			return len(state.FieldOrder) + 1
		}
		return i
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), ipld.CompareKeys(a, b))
}

// blame searches for the commits that set the fields of one node.
type blame struct {
	ctx   context.Context
	repo  *core.Repo
	id    graph.ID
	open  map[ipld.CID]*blamed // by commit
	next  []*blamed            // the same as a heap, highest first: once on top, a commit receives no more fields
	found []FieldBlame
}

// blamed is one commit and the fields passed to it.
type blamed struct {
	cid    ipld.CID
	commit *commit.Commit
	graph  *graph.Graph
	node   ipld.CID // undefined if there is none
	mark   ipld.CID // likewise
	fields map[string][]byte
}

func (at *blamed) higher(than *blamed) bool { return at.commit.Height > than.commit.Height }

func (b *blame) push(at *blamed) {
	b.open[at.cid] = at
	heap.Push(&b.next, at, (*blamed).higher)
}

// at reads a commit's version of the node.
func (b *blame) at(c ipld.CID) (*blamed, error) {
	at := &blamed{cid: c}
	var err error
	if at.commit, err = b.repo.ReadCommit(b.ctx, c); err != nil {
		return nil, err
	}
	if at.graph, err = commit.ReadGraph(b.ctx, b.repo.Facts(), at.commit.Graph); err != nil {
		return nil, err
	}
	if at.node, err = b.lookup(at.graph.Nodes, b.id[:]); err != nil {
		return nil, err
	}
	if at.graph.Counts.Marks > 0 {
		at.mark, err = b.lookup(at.graph.Marks, graph.MarkKey(graph.OnNode, b.id))
	}
	return at, err
}

func (b *blame) lookup(root ipld.CID, key []byte) (ipld.CID, error) {
	tree, err := b.repo.Nodes().Load(b.ctx, root)
	if err != nil {
		return ipld.CID{}, fmt.Errorf("read tree: %w", err)
	}
	return state.Lookup(b.ctx, tree, key)
}

// fields reads the encoded fields of the node at a commit.
func (b *blame) fields(at *blamed) (map[string][]byte, error) {
	out := make(map[string][]byte)
	if !at.node.Defined() {
		return out, nil
	}
	n, err := commit.ReadNode(b.ctx, b.repo.Facts(), at.node)
	if errors.Is(err, store.ErrRedacted) {
		return out, nil // the erased values are unknown, so a later version is blamed for its own
	}
	if err != nil {
		return nil, err
	}
	values, err := state.FieldsOf(n.Encode())
	if err != nil {
		return nil, err
	}
	for name, v := range values {
		out[name] = ipld.AppendValue(nil, v)
	}
	if at.mark.Defined() {
		out[markField] = ipld.AppendLink(nil, at.mark)
	}
	return out, nil
}

// settle passes a commit's fields to the first parent that has the same values, and blames the commit for those
// that none has.
func (b *blame) settle(at *blamed) error {
	delete(b.open, at.cid)
	rest := at.fields
	for _, c := range at.commit.Parents {
		if len(rest) == 0 {
			break
		}
		p, ok := b.open[c]
		if !ok {
			var err error
			if p, err = b.at(c); err != nil {
				return err
			}
		}
		same := rest
		if p.node != at.node || p.mark != at.mark {
			theirs, err := b.fields(p)
			if err != nil {
				return err
			}
			same, rest = split(rest, theirs)
		} else {
			rest = nil
		}
		if len(same) == 0 {
			continue
		}
		if !ok {
			p.fields = make(map[string][]byte)
			b.push(p)
		}
		for name, v := range same {
			p.fields[name] = v
		}
	}
	for name := range rest {
		b.found = append(b.found, FieldBlame{name, at.cid, at.commit})
	}
	return nil
}

// split separates fields into those that others has with the same value and the rest.
func split(fields, others map[string][]byte) (same, rest map[string][]byte) {
	same, rest = make(map[string][]byte), make(map[string][]byte)
	for name, v := range fields {
		if other, ok := others[name]; ok && bytes.Equal(v, other) {
			same[name] = v
		} else {
			rest[name] = v
		}
	}
	return same, rest
}

package review

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/rank/source"
)

// Since counts the changes of memories between two commits, without turns of conversations, names and documents.
type Since struct {
	Added   int  `json:"added"`
	Changed int  `json:"changed"` // in their texts
	Hidden  int  `json:"hidden"`  // forgotten, superseded, retired or expired
	More    bool `json:"more"`    // whether more differs than was looked at
	// Newest are the newest of those that were added or changed, the newest first.
	Newest []*graph.Node `json:"-"`
}

// ChangedSince looks at what differs between two commits, at most so many nodes, and returns the newest few.
func ChangedSince(ctx context.Context, from, to *core.Snapshot, most, newest int) (*Since, error) {
	out := &Since{}
	for d, err := range from.Diff(to).Nodes(ctx) {
		if err != nil {
			return nil, err
		}
		if most--; most < 0 {
			out.More = true
			break
		}
		n := d.Node()
		if reviewedNot[n.Type] || source.IsSaid(n.Type) || source.IsName(n) {
			continue
		}
		m, err := to.Mark(ctx, graph.OnNode, d.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case d.New == nil || !memory.IsShown(m) && d.Old != nil && d.Mark:
			out.Hidden++
			continue
		case !memory.IsShown(m):
			continue
		case d.Old == nil:
			out.Added++
		case d.Old.Summary != d.New.Summary:
			out.Changed++
		default:
			continue
		}
		out.Newest = append(out.Newest, n)
		slices.SortFunc(out.Newest, func(a, b *graph.Node) int { return laterFirst(a, b) })
		out.Newest = out.Newest[:min(len(out.Newest), newest)]
	}
	return out, nil
}

// laterFirst orders nodes by when they were changed last, equal ones by id.
func laterFirst(a, b *graph.Node) int {
	at := func(n *graph.Node) graph.Time {
		if n.Updated.Given {
			return n.Updated.Time
		}
		return n.Created
	}
	switch {
	case at(a) > at(b):
		return -1
	case at(a) < at(b):
		return 1
	}
	return a.ID.Compare(b.ID)
}

// Contradictions returns pairs of memories that contradict each other and are both in sight, in the order of the lesser
// id, at most so many of them, and whether there may be more: it looks at no more than so many marks.
func Contradictions(
	ctx context.Context, s *core.Snapshot, marks, pairs int,
) (list [][2]*graph.Node, more bool, err error) {
	seen := make(map[[2]graph.ID]bool)
	for m, err := range s.Marks(ctx, graph.OnNode) {
		if err != nil {
			return nil, false, err
		}
		if marks--; marks < 0 {
			return list, true, nil
		}
		open, err := memory.Disputed(ctx, s, m)
		if err != nil {
			return nil, false, err
		}
		if !open || m.By.IsZero() {
			continue
		}
		ids := [2]graph.ID{m.ID, m.By}
		if ids[0].Compare(ids[1]) > 0 {
			ids[0], ids[1] = ids[1], ids[0]
		}
		if seen[ids] {
			continue
		}
		seen[ids] = true
		if len(list) == pairs {
			return list, true, nil
		}
		var pair [2]*graph.Node
		for i, id := range ids {
			if pair[i], _, err = s.Node(ctx, id); err != nil {
				return nil, false, err
			}
		}
		list = append(list, pair)
	}
	return list, false, nil
}

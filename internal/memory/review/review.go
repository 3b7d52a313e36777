// Package review shows people what a memory gained and what could be tidied up, and writes what they
// decide about it: each review is one commit or none.
package review

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
)

// MaxReviewText is the longest text that a review writes, in bytes.
const MaxReviewText = 16 << 10

// reviewedNot are the types of nodes that no review shows: what files and conversations are held together by.
var reviewedNot = map[string]bool{
	"Session": true, "Collection": true, "Document": true, "Section": true, "Chunk": true, TypeProposal: true,
	state.RedactedType: true,
}

// Unreviewed yields the memories that were added or changed between two commits and are visible in the later one, in id
// order, without the names, documents and conversations that come with them.
func Unreviewed(ctx context.Context, from, to *core.Snapshot) iter.Seq2[*graph.Node, error] {
	return func(yield func(*graph.Node, error) bool) {
		for n, err := range from.AddedNodes(ctx, to) {
			if err == nil && (reviewedNot[n.Type] || source.IsName(n) || n.Summary == "" && n.Content == nil) {
				continue
			}
			if err == nil {
				m, markErr := to.Mark(ctx, graph.OnNode, n.ID)
				if err = markErr; err == nil && !memory.IsShown(m) {
					continue
				}
			}
			if !yield(n, err) || err != nil {
				return
			}
		}
	}
}

// TextEdit is the text that a node is to have.
type TextEdit struct{ Node, Text string }

// ReviewRequest holds the decisions about nodes, each named as by core.Snapshot.Name, at most MaxMarked of them and
// each once.
type ReviewRequest struct {
	Drop []string // are forgotten
	Pin  []string
	Edit []TextEdit
}

// ReviewResult describes the changes of a review.
type ReviewResult struct {
	*core.CommitResult
	Decided
}

// Decided are the nodes that were decided of, in the order of the request.
type Decided struct {
	Dropped []graph.ID `json:"dropped"`
	Pinned  []graph.ID `json:"pinned"`
	Edited  []graph.ID `json:"edited"`
	Already []graph.ID `json:"already"` // that were as asked before
}

// Review forgets, pins and edits nodes in one commit, or none if all are as asked.
func Review(ctx context.Context, r *core.Repo, opt core.CommitOptions, req ReviewRequest) (*ReviewResult, error) {
	n := len(req.Drop) + len(req.Pin) + len(req.Edit)
	switch {
	case n == 0:
		return nil, state.Invalidf("nodes: name at least one")
	case n > memory.MaxMarked:
		return nil, state.Invalidf("nodes: %d, limit %d: review them in several requests", n, memory.MaxMarked)
	}
	for _, e := range req.Edit {
		if strings.TrimSpace(e.Text) == "" {
			return nil, state.Invalidf("text of %q: empty: drop it instead", e.Node)
		}
		if err := graph.CheckText("text of "+e.Node, e.Text, 1, MaxReviewText); err != nil {
			return nil, err
		}
	}
	var res *ReviewResult
	done, err := memory.DecideMarks(ctx, r, opt, n >= memory.ManyNodes, func(k *memory.Marker) (string, error) {
		res = &ReviewResult{}
		return review(k, req, res)
	})
	if err != nil {
		return nil, err
	}
	res.CommitResult = done.CommitResult
	return res, nil
}

func review(k *memory.Marker, req ReviewRequest, res *ReviewResult) (message string, err error) {
	seen := make(map[graph.ID]bool)
	once := func(name string) (graph.ID, error) {
		id, err := k.Name(name, memory.IsShown)
		if err == nil && seen[id] {
			err = state.Invalidf("%q is decided twice", name)
		}
		seen[id] = true
		return id, err
	}
	for _, e := range req.Edit {
		if err := editText(k, e, once, res); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Concat(req.Pin, req.Drop) {
		if _, err := once(name); err != nil {
			return "", err
		}
	}
	pinned, err := k.Pin(memory.PinRequest{Nodes: req.Pin})
	if err != nil {
		return "", err
	}
	if err := k.Mark(memory.MarkRequest{State: graph.Forgotten, Nodes: req.Drop}); err != nil {
		return "", err
	}
	res.Pinned, res.Dropped = pinned.Changed, k.Result.Marked
	res.Already = slices.Concat(res.Already, pinned.Already, k.Result.Already)
	var parts []string
	for _, p := range []struct {
		verb string
		ids  []graph.ID
	}{{"forget", res.Dropped}, {"pin", res.Pinned}, {"edit", res.Edited}} {
		if len(p.ids) > 0 {
			parts = append(parts, p.verb+" "+memory.Listed(p.ids))
		}
	}
	return "review: " + strings.Join(parts, "; "), nil
}

func editText(k *memory.Marker, e TextEdit, once func(string) (graph.ID, error), res *ReviewResult) error {
	id, err := once(e.Node)
	if err != nil {
		return err
	}
	n, _, err := k.Snapshot.Node(k.Context, id)
	switch {
	case err != nil:
		return err
	case n.Content != nil:
		return state.Invalidf("%q has a content of %d bytes besides its summary, and a review writes no contents",
			e.Node, n.Content.Size)
	case n.Summary == e.Text:
		res.Already = append(res.Already, id)
		return nil
	}
	res.Edited = append(res.Edited, id)
	k.Changes = append(k.Changes, graph.Change{Node: &graph.NodeChange{ID: id, Summary: &e.Text}})
	return nil
}

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
		slices.SortFunc(out.Newest, laterFirst)
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
	return cmp.Or(cmp.Compare(at(b), at(a)), a.ID.Compare(b.ID))
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

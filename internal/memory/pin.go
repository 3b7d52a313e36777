package memory

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// PropPinned is true on nodes that a user wants every session to begin with. It is a property like any other, so
// that it merges, differs and is undone as these are.
const PropPinned = "pinned"

// Pinned reports whether a node is pinned.
func Pinned(n *graph.Node) bool {
	v, _ := ipld.FindEntry(n.Props, PropPinned)
	return v.Bool()
}

// PinRequest asks for nodes to be pinned, or unpinned.
type PinRequest struct {
	Nodes []string // names as of core.Snapshot.Name, 1 to MaxMarked
	Unpin bool
}

// PinResult describes the changes of pins.
type PinResult struct {
	*core.CommitResult `json:"-"`
	Changed            []graph.ID `json:"changed"` // in the order of the request
	Already            []graph.ID `json:"already"` // that were as asked before
}

// Pin sets or removes the property PropPinned of nodes in one commit, or none if nothing changes. It returns an
// *EdgeError if a name belongs to an edge.
func Pin(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, req PinRequest,
) (*PinResult, error) {
	switch {
	case len(req.Nodes) == 0:
		return nil, state.Invalidf("nodes: name at least one")
	case len(req.Nodes) > MaxMarked:
		return nil, state.Invalidf("nodes: %d, limit %d: pin them in several requests", len(req.Nodes), MaxMarked)
	}
	var res *PinResult
	done, err := Decide(ctx, r, opt, len(req.Nodes) >= ManyNodes, func(s *core.Snapshot) (*core.Decision, error) {
		res = &PinResult{}
		return DecidePin(ctx, s, req, res)
	})
	if err != nil {
		return nil, err
	}
	res.CommitResult = done
	return res, nil
}

func DecidePin(ctx context.Context, s *core.Snapshot, req PinRequest, res *PinResult) (*core.Decision, error) {
	k := NewMarker(ctx, s)
	seen := make(map[graph.ID]bool, len(req.Nodes))
	out := &core.Decision{Message: "pin "}
	if req.Unpin {
		out.Message = "unpin "
	}
	for _, name := range req.Nodes {
		id, err := k.Name(name, IsShown)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		n, _, err := s.Node(ctx, id)
		if err != nil {
			return nil, err
		}
		change := &graph.NodeChange{ID: id}
		_, has := ipld.FindEntry(n.Props, PropPinned)
		switch {
		case req.Unpin && has:
			change.Unset = []string{"props." + PropPinned}
		case !req.Unpin && !Pinned(n):
			change.Props = []ipld.Entry{{Key: PropPinned, Value: ipld.BoolValue(true)}}
		default:
			res.Already = append(res.Already, id)
			continue
		}
		res.Changed = append(res.Changed, id)
		out.Changes = append(out.Changes, graph.Change{Node: change})
	}
	out.Message += Listed(res.Changed)
	return out, nil
}

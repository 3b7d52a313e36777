package memory

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
)

// Due returns the time from which a node is out of date, and what says so: its property "expires"
// or its "validTo", the earlier one of both; ok is false if neither does. A property that is no
// time says nothing.
func Due(n *graph.Node) (at graph.Time, why string, ok bool) {
	if v, found := ipld.FindEntry(n.Props, PropExpires); found && v.Kind() == ipld.String {
		if t, err := graph.ParseTime(v.Text()); err == nil {
			at, why, ok = t, PropExpires, true
		}
	}
	if n.ValidTo.Given && (!ok || n.ValidTo.Time < at) {
		at, why, ok = n.ValidTo.Time, "validTo", true
	}
	return at, why, ok
}

// ExpireRequest asks for what is out of date to be marked expired.
type ExpireRequest struct {
	Now    graph.Time // what is due at that time or before it is out of date
	Nodes  []string   // only these, named as of core.Snapshot.Name; empty for all nodes
	Reason string     // "" for what Due says
}

// Expire marks nodes that are out of date as expired, in one commit, or none if there are none.
// What a mark hides already is left alone, and a node that is named and not due is reported as
// neither. Without names every node is read: the time it takes grows with the memory.
func Expire(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, req ExpireRequest,
) (*MarkResult, error) {
	mark := MarkRequest{State: graph.Expired, Nodes: []string{""}, Reason: req.Reason}
	if err := mark.check(); err != nil {
		return nil, err
	}
	var res *MarkResult
	long := len(req.Nodes) == 0 || len(req.Nodes) >= ManyNodes
	done, err := Decide(ctx, r, opt, long, func(s *core.Snapshot) (*core.Decision, error) {
		k := NewMarker(ctx, s)
		if err := k.expire(req); err != nil {
			return nil, err
		}
		res = k.Result
		return &core.Decision{Changes: k.Changes, Message: "expire " + Listed(k.Named)}, nil
	})
	if err != nil {
		return nil, err
	}
	res.CommitResult = done
	return res, nil
}

func (k *Marker) expire(req ExpireRequest) error {
	if len(req.Nodes) == 0 {
		for e, err := range k.Snapshot.Nodes(k.Context, graph.ID{}) {
			if err == nil {
				err = k.expireDue(e.Node, req)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range req.Nodes {
		id, err := k.Name(name, IsShown)
		if err != nil {
			return err
		}
		n, _, err := k.Snapshot.Node(k.Context, id)
		if err == nil {
			err = k.expireDue(n, req)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// expireDue marks a node that is due, unless it is hidden already.
func (k *Marker) expireDue(n *graph.Node, req ExpireRequest) error {
	at, why, ok := Due(n)
	if !ok || at > req.Now {
		return nil
	}
	old, err := k.Now(n.ID)
	if err != nil {
		return err
	}
	if old != nil && old.State.Hides() {
		if old.State == graph.Expired {
			k.Result.Already = append(k.Result.Already, n.ID)
		}
		return nil
	}
	mark := MarkRequest{State: graph.Expired, Reason: req.Reason}
	if mark.Reason == "" {
		mark.Reason = why + " " + at.String()
	}
	k.Set(mark, n.ID, graph.ID{})
	k.Named = append(k.Named, n.ID)
	return k.settle(n.ID, old)
}

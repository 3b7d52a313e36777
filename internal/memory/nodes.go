package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory/extract"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Decide commits what fn makes of the newest commit of a branch, as core.Repo.Decide does. long says that
// deciding takes longer than other writers should wait.
func Decide(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, long bool,
	fn func(*core.Snapshot) (*core.Decision, error),
) (*core.CommitResult, error) {
	return r.Decide(ctx, core.DecideOptions{CommitOptions: opt, Long: long}, fn)
}

// DecideMarks commits the changes that fn makes with a Marker of the newest commit of a branch, as Decide does. fn returns
// the message of the commit.
func DecideMarks(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, long bool, fn func(*Marker) (message string, err error),
) (*MarkResult, error) {
	var res *MarkResult
	done, err := Decide(ctx, r, opt, long, func(s *core.Snapshot) (*core.Decision, error) {
		k := NewMarker(ctx, s)
		message, err := fn(k)
		if err != nil {
			return nil, err
		}
		res = k.Result
		return &core.Decision{Changes: k.Changes, Message: message}, nil
	})
	if err != nil {
		return nil, err
	}
	res.CommitResult = done
	return res, nil
}

// Head returns the newest state of a branch, "" for the one that HEAD is on.
func Head(ctx context.Context, r *core.Repo, branch string) (*core.Snapshot, error) {
	if branch != "" {
		return r.Snapshot(ctx, string(graph.BranchRef(branch)))
	}
	_, at, err := r.Branch(ctx)
	if err != nil {
		return nil, err
	}
	return r.At(ctx, at)
}

// SeenNode returns a node that no mark hides but those in states that are let through, nil for none.
func SeenNode(ctx context.Context, s *core.Snapshot, id graph.ID, let []graph.State) (*graph.Node, error) {
	n, _, err := s.Node(ctx, id)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := s.Mark(ctx, graph.OnNode, id)
	if err != nil || m != nil && m.State.Hides() && !slices.Contains(let, m.State) {
		return nil, err
	}
	return n, nil
}

// Texts returns the texts of a property that is a list; other items of it are left out.
func Texts(props []ipld.Entry, name string) (out []string) {
	v, _ := ipld.FindEntry(props, name)
	for _, item := range v.List() {
		if item.Kind() == ipld.String {
			out = append(out, item.Text())
		}
	}
	return out
}

// IsMissing reports whether an error says that something does not exist.
func IsMissing(err error) bool {
	var missing *state.NotFoundError
	return errors.As(err, &missing)
}

// IsShown reports whether a mark, nil for none, lets what it is on be seen.
func IsShown(m *graph.Mark) bool { return m == nil || !m.State.Hides() }

// IsEdgeHidden reports whether a mark that is not let through hides an edge.
func IsEdgeHidden(ctx context.Context, s *core.Snapshot, id graph.ID, let []graph.State) (bool, error) {
	m, err := s.Mark(ctx, graph.OnEdge, id)
	return m != nil && m.State.Hides() && !slices.Contains(let, m.State), err
}

// IsHidden reports whether a mark hides a node.
func IsHidden(ctx context.Context, s *core.Snapshot, id graph.ID) (bool, error) {
	m, err := s.Mark(ctx, graph.OnNode, id)
	return m != nil && m.State.Hides(), err
}

// partTypes are the types of nodes that hold files, conversations and proposals together. They are no memories.
var partTypes = map[string]bool{
	"Session": true, "Turn": true, "Collection": true, "Document": true, "Section": true, "Chunk": true,
	"proposal": true,
}

// IsMemory reports whether a node was kept for what it says: it is no part of a file or conversation, no proposal and
// no mere name.
func IsMemory(n *graph.Node) bool { return !partTypes[n.Type] && !source.IsName(n) }

// Types of the nodes that edges lead to, and the beginnings of their keys.
const (
	TypeEntity   = "Entity"
	TypeTag      = "Tag"
	EntityPrefix = "entity/"
	TagPrefix    = "tag/"
)

// EntityKey returns the key of the node of an entity, "" if the name is blank or too long for one.
func EntityKey(name string) string { return nodeKey(EntityPrefix, name) }

// TagKey returns the key of the node of a tag, "" likewise.
func TagKey(name string) string { return nodeKey(TagPrefix, name) }

func nodeKey(prefix, name string) string {
	folded := extract.Fold(name)
	if folded == "" || len(prefix)+len(folded) > graph.MaxKey {
		return ""
	}
	return prefix + folded
}

// Credentials are the findings of the guard in a text.
type Credentials []guard.Finding

// Has reports whether an entity of the text overlaps a credential. Such an entity would become nodes and edges, which
// outlive the memory.
func (c Credentials) Has(e extract.Entity) bool {
	within := func(f guard.Finding) bool { return f.Start < e.End && e.Start < f.End }
	return slices.ContainsFunc(c, within) || guard.IsSecret(e.Name)
}

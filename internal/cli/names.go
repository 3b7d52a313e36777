package cli

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// label names a node for people: its key, or its id where it has none.
func label(n *graph.Node) string {
	if n.Key != "" {
		return line(n.Key)
	}
	return n.ID.String()
}

// maxLabels bounds the labels remembered while one command prints, in bytes: those of some 300,000
// nodes. Edges name nodes in no order, so with fewer than there are most would be read for each edge.
const (
	maxLabels = 64 << 20
	labelSize = 192 // of one without its texts, as measured: the id, the node, and its place in a map
)

// labels names nodes by id, looking into several snapshots in turn. The labels used last are
// remembered, the newer half of them in known.
type labels struct {
	from         []*repo.Snapshot
	known, older map[graph.ID]*graph.Node
	most, size   int // bytes of known
}

func newLabels(from ...*repo.Snapshot) *labels {
	return &labels{from: from, known: make(map[graph.ID]*graph.Node), most: maxLabels / 2}
}

// keep remembers a label, nil for a node that there is not.
func (l *labels) keep(id graph.ID, n *graph.Node) {
	l.size += labelSize
	if n != nil {
		l.size += len(n.Key) + len(n.Type) + len(n.Summary)
	}
	if l.size > l.most {
		l.older, l.known, l.size = l.known, make(map[graph.ID]*graph.Node), 0
	}
	l.known[id] = n
}

// seen returns a node that is remembered, and whether it is.
func (l *labels) seen(id graph.ID) (*graph.Node, bool) {
	n, ok := l.known[id]
	if ok {
		return n, true
	}
	if n, ok = l.older[id]; ok {
		l.keep(id, n)
	}
	return n, ok
}

// node returns a node, nil where no snapshot has it.
func (l *labels) node(ctx context.Context, id graph.ID) (*graph.Node, error) {
	if n, ok := l.seen(id); ok {
		return n, nil
	}
	var found *graph.Node
	for _, s := range l.from {
		n, _, err := s.Node(ctx, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			found = &graph.Node{ID: n.ID, Key: n.Key, Type: n.Type, Summary: n.Summary}
			break
		}
	}
	l.keep(id, found)
	return found, nil
}

// label returns a node's key, or its id where it has none or does not exist.
func (l *labels) label(ctx context.Context, id graph.ID) (string, error) {
	n, err := l.node(ctx, id)
	if n == nil {
		return id.String(), err
	}
	return label(n), nil
}

// key returns a node's key, nil for none.
func (l *labels) key(ctx context.Context, id graph.ID) (*string, error) {
	n, err := l.node(ctx, id)
	if n == nil {
		return nil, err
	}
	return orNull(n.Key), nil
}

// visible decides which marked nodes and edges a command shows.
type visible struct {
	s   *repo.Snapshot
	let []graph.State // hidden states to let through
}

// marksFlag adds the flag that lets hidden states through, under both of its names.
func marksFlag(cmd *cobra.Command, to *[]string) {
	f := cmd.Flags()
	f.StringSliceVar(to, "include", nil,
		"show nodes and edges in these hidden `STATES` too: forgotten, superseded, expired, retired")
	f.Var(f.Lookup("include").Value, "marks", "`STATES`: another name of --include")
}

func parseMarks(names []string) ([]graph.State, error) {
	var states []graph.State
	for _, name := range names {
		states = append(states, graph.State(name))
	}
	return states, retrieve.Request{Marks: states}.Validate()
}

// shows reports whether a mark, nil for none, lets what it is on be seen.
func (v visible) shows(m *graph.Mark) bool {
	return m == nil || !retrieve.Hidden(m.State) || slices.Contains(v.let, m.State)
}

// edge reports whether an edge and the node it leads to are seen.
func (v visible) edge(ctx context.Context, edge, other graph.ID) (bool, error) {
	m, err := v.s.Mark(ctx, graph.OnEdge, edge)
	if err != nil || !v.shows(m) {
		return false, err
	}
	return v.node(ctx, other)
}

// node reports whether a node is seen.
func (v visible) node(ctx context.Context, id graph.ID) (bool, error) {
	m, err := v.s.Mark(ctx, graph.OnNode, id)
	return v.shows(m), err
}

// needOne returns a usage error unless at most one of the flags was given.
func needOne(cmd *cobra.Command, names ...string) error {
	given := ""
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			continue
		}
		if given != "" {
			return usagef("--%s and --%s exclude each other", given, name)
		}
		given = name
	}
	return nil
}

// checkRange returns a usage error unless low <= n <= high.
func checkRange(flag string, n, low, high int) error {
	if n < low || n > high {
		return usagef("--%s: %d is outside %d to %d", flag, n, low, high)
	}
	return nil
}

// sortedNames returns names in order, each once.
func sortedNames(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

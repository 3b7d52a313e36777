package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// label names a node for people: its key, or its id where it has none.
func label(n *graph.Node) string {
	if n.Key != "" {
		return line(n.Key)
	}
	return n.ID.String()
}

// labels names nodes by id for people.
type labels struct{ *ops.Labels }

func newLabels(from ...*repo.Snapshot) *labels { return &labels{ops.NewLabels(from...)} }

// label returns a node's key, or its id where it has none or does not exist.
func (l *labels) label(ctx context.Context, id graph.ID) (string, error) {
	n, err := l.Node(ctx, id)
	if n == nil {
		return id.String(), err
	}
	return label(n), nil
}

// checkRange returns a usage error unless low <= n <= high.
func checkRange(flag string, n, low, high int) error {
	if n < low || n > high {
		return usagef("--%s: %d is outside %d to %d", flag, n, low, high)
	}
	return nil
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func intText(n int) string { return strconv.Itoa(n) }

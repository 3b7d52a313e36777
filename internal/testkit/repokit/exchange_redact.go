package repokit

import (
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// NodeCID returns the CID of a node's record at HEAD.
func NodeCID(t testing.TB, r *core.Repo, key string) ipld.CID {
	t.Helper()
	_, c, err := Head(t, r).Node(t.Context(), graph.NodeID(key))
	must.OK(t, err)
	return c
}

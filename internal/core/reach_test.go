package core_test

import (
	"errors"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// FuzzLeads reads anything in every role: it never panics, and refuses with the marker of bytes
// that are no such record.
func FuzzLeads(f *testing.F) {
	tree := ipld.Sum(ipld.DagCBOR, nil)
	e := &commit.Export{Scope: commit.ScopeAll, Format: commit.ExportFormat, Refs: tree}
	f.Add(e.Encode())
	g := &graph.Graph{Nodes: tree, Edges: tree, Out: tree, In: tree, Marks: tree}
	f.Add(g.Encode())
	f.Add([]byte("\xa1\x65level\x00"))
	f.Fuzz(func(t *testing.T, block []byte) {
		for as := state.RoleManifest; as <= state.RoleRaw; as++ {
			codec := ipld.DagCBOR
			if as == state.RoleRaw {
				codec = ipld.Raw
			}
			l := state.Lead{Cid: ipld.Sum(codec, block), As: as}
			next, got, err := state.Leads(l, block)
			must.Require(t, err == nil || errors.Is(err, ipld.ErrInvalid), "as %s: %v", as, err)
			must.Require(t, err == nil || next == nil || len(next) <= 0, "as %s: leads beside an error", as)
			must.Require(t, err != nil || got == as || as == state.RoleNamed, "a %s became a %s", as, got)
		}
	})
}

// TestRoles checks that every role has a name.
func TestRoles(t *testing.T) {
	for as := state.RoleManifest; as <= state.RoleRaw; as++ {
		must.Check(t, as.String() != "", "role %d has no name", as)
	}
}

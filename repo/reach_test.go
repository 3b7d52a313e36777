package repo

import (
	"errors"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
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
		for as := roleManifest; as <= roleRaw; as++ {
			codec := ipld.DagCBOR
			if as == roleRaw {
				codec = ipld.Raw
			}
			l := lead{ipld.Sum(codec, block), as}
			next, got, err := leads(l, block)
			if err != nil && !errors.Is(err, ipld.ErrInvalid) {
				t.Fatalf("as %s: %v", as, err)
			}
			if err != nil && next != nil && len(next) > 0 {
				t.Fatalf("as %s: leads beside an error", as)
			}
			if err == nil && got != as && as != roleNamed {
				t.Fatalf("a %s became a %s", as, got)
			}
		}
	})
}

// TestRoles checks that every role has a name, and every tree what its entries are.
func TestRoles(t *testing.T) {
	trees := 0
	for as := roleManifest; as <= roleRaw; as++ {
		if as.String() == "" {
			t.Errorf("role %d has no name", as)
		}
		if as.String() == "tree" {
			trees++
		}
	}
	if trees != len(leaves) {
		t.Errorf("%d roles of trees, %d with leaves", trees, len(leaves))
	}
}

package repo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
	"github.com/mnem-project/mnem/store/pebble"
)

// derivedCIDs returns the CIDs of all derived blocks.
func derivedCIDs(t *testing.T, st store.Store) (list []string) {
	t.Helper()
	err := st.Derived().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		list = append(list, b.CID.String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestBulkApart makes a commit of so many edges that they do not wait in memory, with some that are
// given twice, changed and removed, on disk and in a store that has no other room.
func TestBulkApart(t *testing.T) {
	const nodes, each = 1500, 45
	ref := func(i int) graph.Ref { return graph.Ref{Key: fmt.Sprintf("n%d", i)} }
	changes := func(yield func(graph.Change, error) bool) {
		for i := range nodes {
			if !yield(graph.Change{Node: &graph.NodeChange{Key: ref(i).Key, Type: "T"}}, nil) {
				return
			}
		}
		edge := func(i, d int) *graph.EdgeChange {
			return &graph.EdgeChange{Type: "next", Src: ref(i), Dst: ref((i + 7*d + 1) % nodes)}
		}
		for i := range nodes {
			for d := range each {
				if !yield(graph.Change{Edge: edge(i, d)}, nil) {
					return
				}
			}
		}
		for i := 0; i < nodes; i += 100 { // early ones are in other runs than late ones
			again, changed, gone := edge(i, 1), edge(i, 2), edge(i, 3)
			changed.Weight = graph.MaxWeight / 2
			remove := &graph.Removal{Edge: &graph.EdgeRef{Type: gone.Type, Src: gone.Src, Dst: gone.Dst}}
			for _, c := range []graph.Change{
				{Edge: again}, {Edge: changed}, {Remove: remove}, {Remove: &graph.Removal{Node: ref(i + 50)}},
			} {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "s")
	onDisk, err := pebble.Open(dir, pebble.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	var want *repo.CommitResult
	var derived []string
	for _, st := range []store.Store{mem.New(), onDisk} {
		r, err := repo.New(t.Context(), st, by, repo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Commit(t.Context(), changes, repo.CommitOptions{Stamp: by, Message: "bulk"})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want, derived = res, derivedCIDs(t, st)
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", res)); diff != "" {
			t.Errorf("commit on disk (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(derived, derivedCIDs(t, st)); diff != "" {
			t.Errorf("indexes on disk (-want +got):\n%s", diff)
		}
	}
	if want.Unchanged != nodes/100 || want.Edges.Added < nodes*each*8/10 {
		t.Errorf("%d unchanged, %d edges", want.Unchanged, want.Edges.Added)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		if strings.HasPrefix(e.Name(), "scratch") {
			t.Errorf("%s is left", e.Name())
		}
	}
	if err := onDisk.Close(); err != nil {
		t.Fatal(err)
	}
}

package core_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// derivedCIDs returns the CIDs of all derived blocks.
func derivedCIDs(t *testing.T, st store.Store) (list []string) {
	t.Helper()
	must.OK(t, st.Derived().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		list = append(list, b.CID.String())
		return nil
	}))
	return list
}

// leaving is a store whose scratch files stay.
type leaving struct{ *pebble.Store }

type leftScratch struct{ store.Scratch }

func (l leaving) Scratch(ctx context.Context) (store.Scratch, error) {
	f, err := l.Store.Scratch(ctx)
	return leftScratch{f}, err
}

func (leftScratch) Close() error { return errors.New("busy") }

// scratchIn returns the names of scratch files in a directory.
func scratchIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list := must.Get(os.ReadDir(dir))(t)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "scratch") {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestBulkApart makes a commit of so many edges that they do not wait in memory, with some that are
// given twice, changed and removed, on disk and in a store that has no other room. A file that cannot be
// removed does not matter.
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
	onDisk := must.Get(pebble.Open(dir, pebble.Options{Create: true}))(t)
	var want *core.CommitResult
	var derived []string
	for _, st := range []store.Store{mem.New(), leaving{onDisk}, onDisk} {
		if st == onDisk {
			left := scratchIn(t, dir)
			if err := onDisk.Close(); err != nil || len(left) != 1 {
				t.Fatalf("files %q are left; close: %v", left, err)
			}
			dir = filepath.Join(t.TempDir(), "s")
			onDisk = must.Get(pebble.Open(dir, pebble.Options{Create: true}))(t)
			st = onDisk
		}
		r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
		res, err := r.Commit(t.Context(), changes, core.CommitOptions{Stamp: repokit.By, Message: "bulk"})
		must.OK(t, err)
		if want == nil {
			want, derived = res, derivedCIDs(t, st)
		}
		must.Same(t, fmt.Sprintf("%+v", res), fmt.Sprintf("%+v", want), "commit on disk")
		must.Same(t, derivedCIDs(t, st), derived, "indexes on disk")
	}
	must.Check(t, want.Unchanged == nodes/100 && want.Edges.Added >= nodes*each*8/10,
		"%d unchanged, %d edges", want.Unchanged, want.Edges.Added)
	if left := scratchIn(t, dir); left != nil {
		t.Errorf("files %q are left", left)
	}
	must.OK(t, onDisk.Close())
}

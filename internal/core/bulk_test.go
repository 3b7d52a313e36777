package core_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// bulkChanges yields n nodes, each with three edges to earlier ones, and now and then a change of a node
// that is there, a fact, a fact that is there, a long content, a vector and a removal.
func bulkChanges(t testing.TB, n int) state.Changes {
	t.Helper()
	key := func(i int) graph.Ref { return graph.Ref{Key: fmt.Sprintf("n%d", i)} }
	text := func(i, words int) string {
		var b strings.Builder
		for w := range words {
			fmt.Fprintf(&b, "Word%d of harbour %d ", (i*7+w*w)%501, i%97)
		}
		return b.String()
	}
	node := func(i int, key string) graph.Change {
		title := fmt.Sprintf("Title %d", i%300)
		c := &graph.NodeChange{Key: key, Type: fmt.Sprintf("T%d", i%3), Summary: &title}
		words := 20 + i%40
		if i%200 == 7 {
			words = 3000
		}
		must.OK(t, c.SetContent(text(i, words), ""))
		c.Props = []ipld.Entry{{Key: "n", Value: ipld.IntValue(int64(i))}}
		return graph.Change{Node: c}
	}
	return func(yield func(graph.Change, error) bool) {
		line := 0
		give := func(c graph.Change) bool {
			line++
			c.File, c.Line = "bulk", line
			return yield(c, nil)
		}
		for i := range n {
			list := []graph.Change{node(i, key(i).Key)}
			for d := 1; d <= 3 && d <= i; d++ {
				list = append(list, graph.Change{Edge: &graph.EdgeChange{
					Type: "next", Src: key(i), Dst: key(i - d*d%i), Key: fmt.Sprint(d),
				}})
			}
			if i%50 == 20 {
				list = append(list, node(i/2, ""), node(i/2, ""), node(i+1, key(i/2).Key))
				list = append(list, graph.Change{Embedding: &graph.EmbeddingChange{
					Node: key(i), Model: "m", Vector: []float64{float64(i), 1, 2},
				}})
			}
			if i%300 == 40 {
				gone := graph.Ref{Key: fmt.Sprintf("gone%d", i)}
				list = append(list, node(i, gone.Key),
					graph.Change{Edge: &graph.EdgeChange{Type: "next", Src: key(i), Dst: gone}},
					graph.Change{Remove: &graph.Removal{Node: gone}})
			}
			for _, c := range list {
				if !give(c) {
					return
				}
			}
		}
	}
}

// TestBulkIsReproducible makes one large commit with as many processors as there may be: what is
// stored, facts and index, and what is counted, are the same.
func TestBulkIsReproducible(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	type outcome struct {
		graph, index          ipld.CID
		nodes, edges          state.Counts
		duplicates, unchanged int
	}
	var want outcome
	for i, procs := range effort.Pick([]int{1, 3}, []int{1, 2, 3, 16}, []int{1, 2, 3, 16}) {
		runtime.GOMAXPROCS(procs)
		st := mem.New()
		r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
		res, err := r.Commit(t.Context(), bulkChanges(t, 1500), core.CommitOptions{Stamp: repokit.By, Message: "bulk"})
		must.OK(t, err)
		snap := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
		stats := must.Get(snap.IndexStats(t.Context()))(t)
		got := outcome{res.Graph, stats.Manifest, res.Nodes, res.Edges, res.Duplicates, res.Unchanged}
		if i == 0 {
			want = got
			must.Require(t, got.duplicates != 0 && got.nodes.Added >= 1500 && got.index.Defined(), "%+v", got)
		}
		must.Equal(t, got, want, procs, " processors")
		rebuilt := must.Get(r.Indexes().Rebuild(t.Context(), "HEAD"))(t, procs, " processors: rebuilt")
		must.Equal(t, rebuilt.Manifest, want.index, procs, " processors: rebuilt")
	}
}

// TestBulkEnds interrupts a large commit: it fails with the error of the line, even if later lines
// were already read, changes nothing, and leaks no goroutine.
func TestBulkEnds(t *testing.T) {
	broken := errors.New("broken pipe")
	at := func(line int, fail func(*graph.Change) error) func(context.CancelFunc) state.Changes {
		return func(context.CancelFunc) state.Changes {
			return func(yield func(graph.Change, error) bool) {
				for c := range keysOf(bulkChanges(t, 900)) {
					if c.Line == line {
						if err := fail(&c); err != nil {
							yield(c, err)
							return
						}
					}
					if !yield(c, nil) {
						return
					}
				}
			}
		}
	}
	for name, test := range map[string]struct {
		changes func(context.CancelFunc) state.Changes
		want    string
	}{
		"stream": {at(2000, func(*graph.Change) error { return broken }), "broken pipe"},
		"first":  {at(1, func(*graph.Change) error { return broken }), "broken pipe"},
		"invalid": {at(2001, func(c *graph.Change) error {
			*c = graph.Change{File: c.File, Line: c.Line, Node: &graph.NodeChange{Key: "x\x00"}}
			return nil
		}), "bulk:2001: node.key: must not contain NUL"},
		"graph": {at(2002, func(c *graph.Change) error {
			*c = graph.Change{File: c.File, Line: c.Line, Remove: &graph.Removal{
				Node: graph.Ref{Key: "never there"},
			}}
			return nil
		}), `bulk:2002: remove: no node "never there"`},
		"cancelled": {func(cancel context.CancelFunc) state.Changes {
			return at(2003, func(*graph.Change) error { cancel(); return nil })(cancel)
		}, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // fails where a goroutine is left
				r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{}))(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_, err := r.Commit(ctx, test.changes(cancel), core.CommitOptions{Stamp: repokit.By, Message: "bulk"})
				must.True(t, err != nil && err.Error() == test.want, "error %v, want %s", err, test.want)
				snap, err := r.Snapshot(t.Context(), "HEAD")
				if err == nil && snap.CID().Defined() {
					t.Errorf("there is a commit %s", snap.CID())
				}
			})
		})
	}
}

// keysOf drops the errors of changes that have none.
func keysOf(changes state.Changes) iter.Seq[graph.Change] {
	return func(yield func(graph.Change) bool) {
		for c := range changes {
			if !yield(c) {
				return
			}
		}
	}
}

// TestBulkAllocations bounds what a large commit allocates for each node with three edges, trees and index included.
func TestBulkAllocations(t *testing.T) {
	effort.Alone(t)
	const nodes, most = 4000, 60
	var list []graph.Change
	for c := range keysOf(bulkChanges(t, nodes)) {
		list = append(list, c)
	}
	allocs := testing.AllocsPerRun(1, func() {
		r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{}))(t)
		must.Get(r.Commit(t.Context(), func(yield func(graph.Change, error) bool) {
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
			}
		}, core.CommitOptions{Stamp: repokit.By, Message: "bulk"}))(t)
	})
	must.True(t, allocs <= most*nodes, "%.0f allocations for each node, want at most %d", allocs/nodes, most)
}

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

// TestBulkApart makes a commit of so many edges that they do not wait in memory, with some that are given twice,
// changed and removed, on disk and in a store that has no other room. A file that cannot be removed does not matter.
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
			err := onDisk.Close()
			must.Require(t, err == nil && len(left) == 1, "files %q are left; close: %v", left, err)
			dir = filepath.Join(t.TempDir(), "s")
			onDisk = must.Get(pebble.Open(dir, pebble.Options{Create: true}))(t)
			st = onDisk
		}
		r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
		res := must.Get(r.Commit(t.Context(), changes, core.CommitOptions{Stamp: repokit.By, Message: "bulk"}))(t)
		if want == nil {
			want, derived = res, derivedCIDs(t, st)
		}
		must.Same(t, fmt.Sprintf("%+v", res), fmt.Sprintf("%+v", want), "commit on disk")
		must.Same(t, derivedCIDs(t, st), derived, "indexes on disk")
	}
	must.True(t, want.Unchanged == nodes/100 && want.Edges.Added >= nodes*each*8/10,
		"%d unchanged, %d edges", want.Unchanged, want.Edges.Added)
	left := scratchIn(t, dir)
	must.True(t, left == nil, "files %q are left", left)
	must.OK(t, onDisk.Close())
}

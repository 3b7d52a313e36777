package repo_test

import (
	"context"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
	"github.com/mnem-project/mnem/store/storetest"
)

// counted is a store that counts the blocks it reads and writes, those of Commit included.
type counted struct {
	store.Store
	facts   *storetest.Counting
	derived *storetest.Counting
}

func newCounted(s store.Store) *counted {
	return &counted{s, storetest.NewCounting(s.Facts()), storetest.NewCounting(s.Derived())}
}

func (c *counted) Facts() store.Blocks { return c.facts }

// countedDerived counts blocks; Derived alone would have two methods Get.
type countedDerived struct {
	cells
	*storetest.Counting
}

// cells are the methods of store.Derived that Blocks has not.
type cells interface {
	Cell(ctx context.Context, key ipld.CID) (ipld.CID, error)
	SetCell(ctx context.Context, key, value ipld.CID) error
	Clear(ctx context.Context) error
}

func (c *counted) Derived() store.Derived { return countedDerived{c.Store.Derived(), c.derived} }

// Commit writes the blocks through the counter.
func (c *counted) Commit(
	ctx context.Context, old, next store.Head, blocks ...store.Block,
) error {
	if err := c.facts.Put(ctx, blocks...); err != nil {
		return err
	}
	return c.Store.Commit(ctx, old, next)
}

// Close leaves the store open, for another repository over it.
func (c *counted) Close() error { return nil }

// work is what a call read and wrote.
type work struct{ facts, derived storetest.Counts }

func (w work) String() string {
	return fmt.Sprintf("writes %d+%d blocks, %d+%d bytes; reads %d+%d blocks",
		w.facts.BlocksWritten, w.derived.BlocksWritten, w.facts.BytesWritten,
		w.derived.BytesWritten, w.facts.BlocksRead, w.derived.BlocksRead)
}

func (w work) bytes() int64  { return w.facts.BytesWritten + w.derived.BytesWritten }
func (w work) blocks() int64 { return w.facts.BlocksWritten + w.derived.BlocksWritten }

// measure runs fn on the store, opened with empty caches, and returns what it read and wrote.
func measure(t testing.TB, st store.Store, fn func(*repo.Repo)) work {
	t.Helper()
	c := newCounted(st)
	r, err := repo.New(t.Context(), c, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.facts.Reset()
	c.derived.Reset()
	fn(r)
	return work{c.facts.Counts(), c.derived.Counts()}
}

// memories are those that memory made, by their number of nodes.
var memories = map[int]*mem.Store{}

// memory is a repository of n nodes of some twenty words and 2n edges, made in few commits: the store
// in memory keeps what each of them replaced. It is the caller's own copy.
func memory(t testing.TB, n int) store.Store {
	t.Helper()
	if n > 20_000 {
		return newMemory(t, n)
	}
	if memories[n] == nil {
		memories[n] = newMemory(t, n)
	}
	ctx, from, to := t.Context(), memories[n], mem.New()
	put := func(into store.Blocks) func(store.Block) error {
		return func(b store.Block) error { return into.Put(ctx, b) }
	}
	must(t, from.Facts().Iterate(ctx, ipld.CID{}, put(to.Facts())))
	must(t, from.Derived().Iterate(ctx, ipld.CID{}, put(to.Derived())))
	must(t, from.Derived().(store.CellDeleter).Cells(ctx, func(key, value ipld.CID) error {
		return to.Derived().SetCell(ctx, key, value)
	}))
	head, err := from.Head(ctx)
	must(t, err)
	for at := (store.Head{}); at != head; {
		next := store.Head{Seq: at.Seq + 1, Operation: head.Operation}
		must(t, to.Commit(ctx, at, next))
		at = next
	}
	return to
}

func newMemory(t testing.TB, n int) *mem.Store {
	t.Helper()
	st := mem.New()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	chunk := max(10_000, n/4)
	for from := 0; from < n; from += chunk {
		var b strings.Builder
		for i := from; i < min(from+chunk, n); i++ {
			fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"Note","summary":"note w%d about `, i, i)
			for j := range 16 {
				fmt.Fprintf(&b, "w%d ", (i*31+j*j*17)%5000)
			}
			fmt.Fprintf(&b, `","props":{"n":%d}}}`+"\n", i)
			if i > 2 {
				fmt.Fprintf(&b, `{"edge":{"type":"next","src":"n%d","dst":"n%d"}}`+"\n", i, i-1)
				fmt.Fprintf(&b, `{"edge":{"type":"half","src":"n%d","dst":"n%d"}}`+"\n", i, i/2)
			}
		}
		lines(t, r, b.String())
	}
	return st
}

// bounds of one commit in a memory of 10^6 nodes, in logical bytes of facts and index.
const (
	nodeCommitBytes = 12 << 10
	edgeCommitBytes = 40 << 10
)

func workSizes() []int {
	return effort.Pick([]int{1_000, 8_000}, []int{1_000, 10_000},
		[]int{1_000, 10_000, 100_000, 1_000_000})
}

// TestWorkOfCommits bounds what small commits write in memories of several sizes.
func TestWorkOfCommits(t *testing.T) {
	effort.Alone(t)
	const samples = 12
	for _, n := range workSizes() {
		st := memory(t, n)
		height := int64(bits.Len(uint(n))/4 + 1) // log16, rounded up
		for _, c := range []struct {
			name   string
			line   func(i int) string
			bytes  int64 // on the average of the samples
			blocks int64
		}{
			{"one new node", func(i int) string {
				return fmt.Sprintf(`{"node":{"key":"new%d","type":"Note","summary":"w%d w7 zebra"}}`, i, i)
			}, nodeCommitBytes, height + 12},
			{"one changed node", func(i int) string {
				return fmt.Sprintf(`{"node":{"key":"n%d","props":{"n":-1}}}`, i*7)
			}, nodeCommitBytes, height + 12},
			{"one edge", func(i int) string {
				return fmt.Sprintf(`{"edge":{"type":"far","src":"n%d","dst":"n%d"}}`, i*7, n-1-i)
			}, edgeCommitBytes, 3*height + 12},
			{"node and edge", func(i int) string {
				return fmt.Sprintf(`{"node":{"key":"both%d","type":"Note","summary":"w%d w8"}}
{"edge":{"type":"far","src":"n%d","dst":"both%d"}}`, i, i, i*7, i)
			}, edgeCommitBytes, 4*height + 12},
		} {
			var total, blocks, largest int64
			var last work
			for i := range samples {
				last = measure(t, st, func(r *repo.Repo) { lines(t, r, c.line(i)) })
				total, blocks = total+last.bytes(), blocks+last.blocks()
				largest = max(largest, last.bytes())
			}
			t.Logf("%d nodes, %s: %d bytes, %d at most, in %d blocks; last %v",
				n, c.name, total/samples, largest, blocks/samples, last)
			if total/samples > c.bytes || blocks/samples > c.blocks {
				t.Errorf("%d nodes, %s: %d bytes in %d blocks, want %d in %d at most",
					n, c.name, total/samples, blocks/samples, c.bytes, c.blocks)
			}
		}
	}
}

// TestWorkOfDiffs bounds what a diff reads by what differs.
func TestWorkOfDiffs(t *testing.T) {
	effort.Alone(t)
	for _, n := range workSizes() {
		st := memory(t, n)
		height := int64(bits.Len(uint(n))/4 + 1)
		for _, k := range []int64{1, 10, 100} {
			measure(t, st, func(r *repo.Repo) {
				var b strings.Builder
				for i := range k {
					fmt.Fprintf(&b, `{"node":{"key":"n%d","props":{"k":%d}}}`+"\n", i*37%int64(n), k)
				}
				lines(t, r, b.String())
			})
			w := measure(t, st, func(r *repo.Repo) {
				now := head(t, r)
				old, err := r.Snapshot(t.Context(), "HEAD~1")
				if err != nil {
					t.Fatal(err)
				}
				found := int64(0)
				for _, err := range old.Diff(now).Nodes(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					found++
				}
				if found != k {
					t.Errorf("%d changes, want %d", found, k)
				}
			})
			t.Logf("%d nodes, %d changes: %v", n, k, w)
			// Both records of each change; two trees of nodes; view, commits, graphs and roots.
			if bound := 2*k + 2*k*height + 2*k + 30; w.facts.BlocksRead > bound {
				t.Errorf("%d nodes: a diff of %d read %d blocks, want %d at most",
					n, k, w.facts.BlocksRead, bound)
			}
		}
	}
}

// TestWorkAtHub compares commits at a node with very many edges with those at a leaf.
func TestWorkAtHub(t *testing.T) {
	effort.Alone(t)
	n := effort.Pick(10_000, 10_000, 100_000)
	st := mem.New()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines(t, r, hubLines(n)+`{"node":{"key":"lone","type":"Leaf"}}`)
	for name, line := range map[string]string{
		"add an edge":       `{"edge":{"type":"new%d","src":"%s","dst":"lone"}}`,
		"add an edge to it": `{"edge":{"type":"in%d","src":"lone","dst":"%s"}}`,
		"change the node":   `{"node":{"key":"%[2]s","props":{"p":%[1]d}}}`,
		"mark it":           `{"mark":{"node":"%[2]s","state":"stale","reason":"%[1]d"}}`,
	} {
		const samples = 8
		var got [2]work
		for side, node := range []string{"hub", "l17"} {
			for i := range samples {
				w := measure(t, st, func(r *repo.Repo) { lines(t, r, fmt.Sprintf(line, i, node)) })
				if w.blocks() > got[side].blocks() {
					got[side] = w
				}
			}
		}
		t.Logf("%s: hub %v; leaf %v", name, got[0], got[1])
		if got[0].blocks() > got[1].blocks()+6 ||
			got[0].facts.BlocksRead > got[1].facts.BlocksRead+12 {
			t.Errorf("%s: at the hub %v, at a leaf %v", name, got[0], got[1])
		}
	}
	w := measure(t, st, func(r *repo.Repo) {
		a, err := head(t, r).Retrieve(t.Context(), retrieve.Request{Text: "centre", Limit: new(1),
			Adjacency: 10, Expand: new(0)})
		if err != nil || len(a.Items) != 1 || a.Items[0].ID != graph.NodeID("hub") {
			t.Errorf("%+v, %v", a, err)
		}
	})
	t.Logf("render the hub with 10 of %d edges: %v", n, w)
	if w.facts.BlocksRead > 80 {
		t.Errorf("rendering the hub read %d blocks", w.facts.BlocksRead)
	}
}

package synthkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/synth"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// slackOfAllocations is by how many parts of a hundred allocations may differ: maps grow by a random seed.
const slackOfAllocations = 10

// job is a verb whose work is counted.
type job struct {
	name  string
	slack int64 // percent by which its reads may differ
	// first is done before anything is counted; nil for nothing. It leaves caches as it filled them.
	first func(*testing.T, *core.Repo)
	do    func(*testing.T, *core.Repo)
}

func newest(t *testing.T, r *core.Repo) *core.Snapshot {
	t.Helper()
	s := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
	return s
}

// jobs lists the main verbs on a memory, in the order in which they run. Reading verbs come first.
func (w *world) jobs() []job {
	question := func(i int) func(*testing.T, *core.Repo) {
		return func(t *testing.T, r *core.Repo) {
			q := must.Get(w.Question(i))(t)
			answer := must.Get(rank.Retrieve(t.Context(), newest(t, r), retrieve.Request{Text: q.Text}))(t)
			must.True(t, len(answer.Items) > 0, "nothing found for %q", q.Text)
		}
	}
	keep := func(from, n int) func(*testing.T, *core.Repo) {
		return func(t *testing.T, r *core.Repo) {
			reqs := make([]remember.Request, n)
			for i := range reqs {
				reqs[i].Text = w.Fact(from + i)
			}
			must.Get(remember.New(r).RememberAll(t.Context(),
				remember.WriteOptions{CommitOptions: core.CommitOptions{Stamp: w.stamp()}}, reqs))(t)
		}
	}
	commit := func(t *testing.T, r *core.Repo) { must.OK(t, w.commitOne(t.Context(), r)) }
	return []job{
		{name: "open", do: func(t *testing.T, r *core.Repo) { newest(t, r) }},
		{name: "get", do: func(t *testing.T, r *core.Repo) {
			_, _, err := newest(t, r).Node(t.Context(), graph.NodeID(w.Key(w.Nodes/2)))
			must.OK(t, err)
		}},
		{name: "log", do: func(t *testing.T, r *core.Repo) {
			n := 0
			for _, err := range history.History(t.Context(), r, history.LogOptions{}) {
				must.OK(t, err)
				if n++; n == 20 {
					break
				}
			}
		}},
		{name: "status", do: func(t *testing.T, r *core.Repo) {
			must.OK(t, must.Err(r.Stages().Status(t.Context(), "")))
		}},
		{name: "retrieve, cold", do: question(0)},
		{name: "retrieve, warm", first: question(0), do: question(0)},
		{name: "show all nodes", do: func(t *testing.T, r *core.Repo) {
			before := must.Get(r.Snapshot(t.Context(), "HEAD~1"))(t)
			n := 0
			for _, err := range before.Diff(newest(t, r)).Nodes(t.Context()) {
				must.OK(t, err)
				n++
			}
			must.Equal(t, n, w.Nodes, "nodes")
		}},
		{name: "commit, cold", do: commit},
		{name: "commit, warm", first: commit, do: commit},
		{name: "commit of 100 changes", do: func(t *testing.T, r *core.Repo) {
			must.OK(t, w.edit(t.Context(), r, 0, diffChanges))
		}},
		{name: "diff of them", do: func(t *testing.T, r *core.Repo) { must.OK(t, walkDiff(t.Context(), r)) }},
		{name: "merge of 10 changes", first: w.fork, do: func(t *testing.T, r *core.Repo) {
			_, err := merging.Merge(t.Context(), r, "side", core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: w.stamp()}})
			must.OK(t, err)
		}},
		{name: "remember, cold", do: keep(0, 1)},
		{name: "remember, warm", first: keep(1, 1), do: keep(2, 1)},
		{name: "remember 50 at once", do: keep(100, 50)},
		{name: "newest of op log", do: func(t *testing.T, r *core.Repo) {
			for _, err := range r.OpLog().All(t.Context()) {
				must.OK(t, err)
				break
			}
		}},
		{name: "op log", do: func(t *testing.T, r *core.Repo) {
			for _, err := range r.OpLog().All(t.Context()) {
				must.OK(t, err)
			}
		}},
		// Several goroutines read what each wants of trees through one cache, and may both miss it.
		{name: "fsck", slack: 2, do: func(t *testing.T, r *core.Repo) {
			report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
			must.True(t, len(report.Errors) == 0, "%v", report.Errors)
		}},
	}
}

// fork changes ten nodes on a branch and ten others on main.
func (w *world) fork(t *testing.T, r *core.Repo) {
	must.OK(t, must.Err(r.Branches().Create(t.Context(), "side", "HEAD", core.RefOptions{Stamp: w.stamp()})))
	must.OK(t, w.edit(t.Context(), r, 1, 10))
	must.OK(t, r.Branches().Switch(t.Context(), "side", core.SwitchOptions{Stamp: w.stamp()}))
	must.OK(t, w.edit(t.Context(), r, 2, 10))
	must.OK(t, r.Branches().Switch(t.Context(), "main", core.SwitchOptions{Stamp: w.stamp()}))
}

// kept is a store that stays open when a repository over it is closed.
type kept struct{ store.Store }

func (kept) Close() error { return nil }

// count does a job on a repository that was just opened, and returns its work and how much it allocated.
func (w *world) count(t *testing.T, st store.Store, j job) (work, int64) {
	t.Helper()
	c := &counted{Store: kept{st}}
	r := must.Get(care.New(t.Context(), c, w.stamp(), core.Options{}))(t)
	if j.first != nil {
		j.first(t, r)
	}
	c.reset()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools, whose objects are then made again
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	j.do(t, r)
	runtime.ReadMemStats(&after)
	did := c.work()
	must.OK(t, r.Close())
	return did, int64(after.Mallocs - before.Mallocs)
}

// workFile holds the reads, writes and allocations of the main verbs.
const workFile = "testdata/work.txt"

// verb is a row of workFile.
type verb struct {
	name  string
	nodes int
}

// TestWork compares the work of the main verbs in memories of two sizes with workFile: blocks and bytes read and
// written and syncs must be equal, allocations within slackOfAllocations. More is a regression. After an improvement,
// update the file: MNEM_REWRITE=1 go test ./internal/testkit/synthkit -run 'TestWork$'
func TestWork(t *testing.T) {
	runtime.GC() // twice: then no pool has what other tests left there
	runtime.GC()
	effort.Alone(t)
	was := runtime.GOMAXPROCS(1) // allocations of other goroutines would count too
	defer runtime.GOMAXPROCS(was)
	rewrite := os.Getenv("MNEM_REWRITE") != ""
	old := readWork(t, rewrite)
	workOf(t, 200, func(job, []int64) {}) // fills what a process allocates once
	var out strings.Builder
	fmt.Fprintf(&out, "%-22s %6s %7s %10s %8s %9s %6s %9s\n", "verb", "nodes", "read", "bytes", "written", "bytes",
		"syncs", "allocated")
	rows := 0
	for _, nodes := range []int{500, 4000} {
		workOf(t, nodes, func(j job, got []int64) {
			fmt.Fprintf(&out, "%-22s %6d %7d %10d %8d %9d %6d %9d\n", j.name, nodes, got[0], got[1], got[2], got[3],
				got[4], got[5])
			rows++
			want, known := old[verb{j.name, nodes}]
			if !rewrite && (!known || !near(got[:2], want[:2], j.slack) || !near(got[2:5], want[2:5], 0) ||
				!near(got[5:], want[5:], slackOfAllocations)) {
				t.Errorf("%s at %d nodes: %d, want %d", j.name, nodes, got, want)
			}
		})
	}
	if rewrite {
		must.OK(t, os.WriteFile(filepath.FromSlash(workFile), []byte(out.String()), 0o644))
		return
	}
	must.True(t, rows == len(old), "%d rows, %d are written down", rows, len(old))
	if t.Failed() {
		t.Logf("now:\n%s", out.String())
	}
}

// readWork reads workFile, nothing if it is being rewritten.
func readWork(t *testing.T, rewrite bool) map[verb][]int64 {
	t.Helper()
	if rewrite {
		return nil
	}
	data, err := os.ReadFile(filepath.FromSlash(workFile))
	must.OK(t, err)
	rows := make(map[verb][]int64)
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n")), "\n")
	for _, line := range lines[1:] {
		k, v := verb{}, make([]int64, 6)
		if len(line) > 22 {
			k.name = strings.TrimSpace(line[:22])
			_, err = fmt.Sscan(line[22:], &k.nodes, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5])
		}
		must.Require(t, err == nil && k.nodes != 0, "%q: %v", line, err)
		rows[k] = v
	}
	return rows
}

// workOf does all jobs in a memory of some nodes and passes the cost of each to tell.
func workOf(t *testing.T, nodes int, tell func(job, []int64)) {
	t.Helper()
	w := &world{Synth: New(1, nodes, 0, 0)}
	st := mem.New()
	r, err := care.New(t.Context(), st, w.stamp(), core.Options{})
	must.OK(t, err)
	for _, changes := range []state.Changes{w.one(), w.Changes()} {
		_, err = r.Commit(t.Context(), changes, core.CommitOptions{Stamp: w.stamp(), Message: "all"})
		must.OK(t, err)
	}
	for _, j := range w.jobs() {
		did, allocs := w.count(t, st, j)
		tell(j, []int64{did.BlocksRead, did.BytesRead, did.BlocksWritten, did.BytesWritten, did.Syncs, allocs})
	}
}

// one is a first commit, so that another has a parent.
func (w *world) one() state.Changes {
	return func(yield func(graph.Change, error) bool) {
		text := "the first"
		yield(graph.Change{Node: &graph.NodeChange{Key: "first", Type: "fact", Summary: &text}}, nil)
	}
}

// near reports whether values differ from others by at most slack percent.
func near(got, want []int64, slack int64) bool {
	for i := range got {
		if d := 100 * (got[i] - want[i]); max(d, -d) > slack*want[i] {
			return false
		}
	}
	return true
}

// work counts the accesses to a store. Bytes count blocks alone, without keys and without the store's own
// format on disk. Syncs are commits of the head; each makes the store durable once.
type work struct{ BlocksRead, BytesRead, BlocksWritten, BytesWritten, Syncs int64 }

// counter counts. Safe for concurrent use.
type counter struct {
	blocksRead, bytesRead, blocksWritten, bytesWritten, syncs atomic.Int64
}

func (c *counter) work() work {
	return work{c.blocksRead.Load(), c.bytesRead.Load(), c.blocksWritten.Load(), c.bytesWritten.Load(),
		c.syncs.Load()}
}

func (c *counter) reset() {
	for _, n := range []*atomic.Int64{
		&c.blocksRead, &c.bytesRead, &c.blocksWritten, &c.bytesWritten, &c.syncs,
	} {
		n.Store(0)
	}
}

// counted is a store that counts the blocks it reads, and those it writes that it did not have.
type counted struct {
	store.Store
	counter
}

func (c *counted) Facts() store.Blocks { return countedBlocks{c.Store.Facts(), c} }

func (c *counted) Derived() store.Derived {
	derived := c.Store.Derived()
	return countedDerived{derived, countedBlocks{derived, c}}
}

// Commit writes the blocks through the counter.
func (c *counted) Commit(
	ctx context.Context, old, next store.Head, blocks ...store.Block,
) error {
	if err := c.count(ctx, c.Store.Facts(), blocks); err != nil {
		return err
	}
	c.syncs.Add(1)
	return c.Store.Commit(ctx, old, next, blocks...)
}

func (c *counted) count(ctx context.Context, to store.Blocks, blocks []store.Block) error {
	for _, b := range blocks {
		has, err := to.Has(ctx, b.CID)
		if err != nil {
			return err
		}
		if has {
			continue
		}
		c.blocksWritten.Add(1)
		c.bytesWritten.Add(int64(len(b.Data)))
	}
	return nil
}

// Scratch passes on the ability of the store below.
func (c *counted) Scratch(ctx context.Context) (store.Scratch, error) {
	from, ok := c.Store.(store.Scratcher)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return from.Scratch(ctx)
}

type countedBlocks struct {
	store.Blocks
	to *counted
}

func (b countedBlocks) Get(ctx context.Context, id ipld.CID) ([]byte, error) {
	data, err := b.Blocks.Get(ctx, id)
	if err == nil {
		b.to.blocksRead.Add(1)
		b.to.bytesRead.Add(int64(len(data)))
	}
	return data, err
}

// Iterate counts each block as read.
func (b countedBlocks) Iterate(ctx context.Context, from ipld.CID, fn func(store.Block) error) error {
	return b.Blocks.Iterate(ctx, from, func(block store.Block) error {
		b.to.blocksRead.Add(1)
		b.to.bytesRead.Add(int64(len(block.Data)))
		return fn(block)
	})
}

func (b countedBlocks) Put(ctx context.Context, blocks ...store.Block) error {
	if err := b.to.count(ctx, b.Blocks, blocks); err != nil {
		return err
	}
	return b.Blocks.Put(ctx, blocks...)
}

// countedDerived counts blocks. It cannot embed store.Derived as well, since both have methods of the same names.
type countedDerived struct {
	cells
	countedBlocks
}

// cells are the methods of store.Derived that store.Blocks has not.
type cells interface {
	Cell(ctx context.Context, key ipld.CID) (ipld.CID, error)
	SetCell(ctx context.Context, key, value ipld.CID) error
	Clear(ctx context.Context) error
}

// The commit and the index of 10^4 made-up nodes with their edges. The commit never changes; the
// index may, with its format.
const (
	goldenNodes    = 10_000
	goldenCommit   = "bafyreiagdbzknbdnsjayvomdpzeq2jkl7qjrpnfqrvmr2khlqpmd5vdlsa"
	goldenManifest = "bafyreihqkwgicywa6gdunin3faiz374su5nhvx6xfbgxzfepevpkxjijxi"
)

// TestBulkCommit pins a bulk commit and its index, for one thread and for several, and bounds what it
// allocates for each item: the rest is the machine's affair.
func TestBulkCommit(t *testing.T) {
	const items = goldenNodes + EdgesPerNode*(goldenNodes-1)
	const mostAllocs, mostBytes = 50, 9000 // 7,900 bytes alone, 1,450 of them arenas of Pebble: more where its flushes lag
	s := New(1, goldenNodes, 0, 0)
	for _, procs := range effort.Pick([]int{4}, []int{1, 4}, []int{1, 4}) {
		old := runtime.GOMAXPROCS(procs)
		commit, manifest, allocs, bytes := bulkCommit(t, s)
		runtime.GOMAXPROCS(old)
		must.True(t, commit.String() == goldenCommit && manifest.String() == goldenManifest,
			"%d threads: commit %s, index %s; want %s, %s", procs, commit, manifest, goldenCommit, goldenManifest)
		if !effort.Race && (allocs/items > mostAllocs || bytes/items > mostBytes) {
			t.Errorf("%d threads: %d allocations and %d bytes an item, want at most %d and %d", procs,
				allocs/items, bytes/items, mostAllocs, mostBytes)
		}
	}
}

func bulkCommit(t *testing.T, s *Synth) (commit, manifest ipld.CID, allocs, bytes uint64) {
	t.Helper()
	ctx := context.Background()
	by := state.Stamp{Author: "a", Time: synth.FactTime(0), Command: []string{"x"}}
	r := must.Get(care.Init(ctx, t.TempDir(), by, core.Options{}))(t)
	defer func() { must.OK(t, r.Close()) }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := r.Commit(ctx, s.Changes(), core.CommitOptions{Stamp: by, Message: "bulk"})
	runtime.ReadMemStats(&after)
	must.OK(t, err)
	snap := must.Get(r.Snapshot(ctx, "HEAD"))(t)
	stats := must.Get(snap.IndexStats(ctx))(t)
	return res.Commit, stats.Manifest, after.Mallocs - before.Mallocs,
		after.TotalAlloc - before.TotalAlloc
}

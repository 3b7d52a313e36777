package commit

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// blocks is a store of blocks that counts reads.
type blocks struct {
	data  map[ipld.CID][]byte
	reads int
}

func (b *blocks) Get(_ context.Context, c ipld.CID) ([]byte, error) {
	b.reads++
	data, ok := b.data[c]
	if !ok {
		return nil, &store.NotFoundError{CID: c}
	}
	return data, nil
}

func (b *blocks) put(t testing.TB, r record) ipld.CID {
	t.Helper()
	must.OK(t, r.Validate())
	if b.data == nil {
		b.data = make(map[ipld.CID][]byte)
	}
	block := r.Encode()
	c := ipld.Sum(ipld.DagCBOR, block)
	b.data[c] = block
	return c
}

// source returns a random source and prints its seed, so that a failure can be run again.
func source(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// history is a random graph of commits in which parents come before children.
type history struct {
	blocks
	cids    []ipld.CID
	commits []*Commit
}

func (h *history) add(t testing.TB, at graph.Time, parents ...int) {
	c := &Commit{Graph: link("g"), Author: "a", Time: at, Change: graph.ID{1}}
	c.Message.Text = fmt.Sprint(len(h.cids))
	var above []*Commit
	for _, p := range parents {
		c.Parents = append(c.Parents, h.cids[p])
		above = append(above, h.commits[p])
	}
	c.Height = HeightOver(above...)
	h.cids, h.commits = append(h.cids, h.put(t, c)), append(h.commits, c)
}

// log lists messages, which are the numbers of commits.
func (h *history) log(t testing.TB, limit int, from ...ipld.CID) []string {
	t.Helper()
	var out []string
	for e, err := range History(t.Context(), h, from...) {
		must.OK(t, err)
		if out = append(out, e.Commit.Message.Text); len(out) == limit {
			break
		}
	}
	return out
}

// naive is the definition: of the commits whose children have all been listed, the newest.
func (h *history) naive(from ...ipld.CID) []string {
	reached := make(map[ipld.CID]bool)
	for i := len(h.cids) - 1; i >= 0; i-- {
		if slices.Contains(from, h.cids[i]) || reached[h.cids[i]] {
			reached[h.cids[i]] = true
			for _, p := range h.commits[i].Parents {
				reached[p] = true
			}
		}
	}
	var out []string
	for len(reached) > 0 {
		best := -1
		for i, c := range h.cids {
			if !reached[c] || h.hasChild(c, reached) {
				continue
			}
			if best < 0 || h.commits[i].Time > h.commits[best].Time ||
				h.commits[i].Time == h.commits[best].Time && c.Compare(h.cids[best]) < 0 {
				best = i
			}
		}
		out = append(out, h.commits[best].Message.Text)
		delete(reached, h.cids[best])
	}
	return out
}

func (h *history) hasChild(c ipld.CID, in map[ipld.CID]bool) bool {
	for i, commit := range h.commits {
		if in[h.cids[i]] && slices.Contains(commit.Parents, c) {
			return true
		}
	}
	return false
}

func TestHistoryAgainstNaive(t *testing.T) {
	rng := source(t)
	rounds := effort.Pick(300, 300, 20_000)
	for range rounds {
		// Few distinct times, in no order: clocks that run backwards and ties.
		h := random(t, rng, 1+rng.IntN(25))
		var from []ipld.CID
		for range 1 + rng.IntN(3) {
			from = append(from, h.cids[rng.IntN(len(h.cids))])
		}
		must.Same(t, h.log(t, -1, from...), h.naive(from...), "log differs (-naive +got)")
	}
}

// between lists the messages of commits that others do not reach.
func (h *history) between(t testing.TB, from, until []ipld.CID) []string {
	t.Helper()
	var out []string
	for e, err := range Between(t.Context(), h, from, until) {
		must.OK(t, err)
		out = append(out, e.Commit.Message.Text)
	}
	return out
}

func TestBetweenAgainstNaive(t *testing.T) {
	rng := source(t)
	rounds := effort.Pick(300, 300, 20_000)
	for range rounds {
		h := random(t, rng, 1+rng.IntN(25))
		var sides [2][]ipld.CID
		for i := range sides {
			for range rng.IntN(4) {
				sides[i] = append(sides[i], h.cids[rng.IntN(len(h.cids))])
			}
		}
		gone := h.naive(sides[1]...)
		want := slices.DeleteFunc(h.naive(sides[0]...), func(m string) bool { return slices.Contains(gone, m) })
		diff := cmp.Diff(want, h.between(t, sides[0], sides[1]), cmpopts.EquateEmpty())
		must.Require(t, diff == "", "list differs (-naive +got):\n%s", diff)
	}
}

// TestBetweenIsLazy bounds how much a short range at the end of a long history reads.
func TestBetweenIsLazy(t *testing.T) {
	h := &history{}
	h.add(t, 0)
	for i := 1; i < 2000; i++ {
		h.add(t, graph.Time(i), i-1)
	}
	last := len(h.cids) - 1
	h.reads = 0
	must.Equal(t, len(h.between(t, h.cids[last:], h.cids[last-10:last-9])), 10, "commits")
	must.True(t, h.reads <= 13, "%d reads for 10 commits", h.reads)
}

// TestHistoryIsLazy bounds how much a short log of a long history reads.
func TestHistoryIsLazy(t *testing.T) {
	h := &history{}
	h.add(t, 0)
	for i := 1; i < 2000; i++ {
		if i%10 == 0 {
			h.add(t, graph.Time(i), i-1, i-4) // a merge of a short branch
			continue
		}
		h.add(t, graph.Time(i), i-1)
	}
	head := h.cids[len(h.cids)-1]
	for _, c := range []struct{ entries, most int }{{1, 1}, {10, 12}, {100, 105}} {
		h.reads = 0
		must.Equal(t, len(h.log(t, c.entries, head)), c.entries, "entries")
		must.True(t, h.reads <= c.most, "%d reads for %d entries, want at most %d", h.reads, c.entries, c.most)
	}
}

func TestHistoryErrors(t *testing.T) {
	h := &history{}
	h.add(t, 1)
	h.add(t, 2, 0)
	liar := *h.commits[1]
	liar.Height = 3
	lie := h.put(t, &liar)
	last := func(from ipld.CID) (n int, err error) {
		for _, e := range History(t.Context(), h, from) {
			if n++; e != nil {
				err = e
			}
		}
		return n, err
	}
	if n, err := last(lie); n != 2 || !errors.Is(err, ipld.ErrInvalid) {
		t.Errorf("false height: %d entries, error %v", n, err)
	}
	delete(h.data, h.cids[0])
	n, err := last(h.cids[1])
	must.Equal(t, n, 2, "missing parent")
	must.Fail(t, err, store.ErrNotFound, "missing parent")
	want := "read commit " + h.cids[0].String() + ": "
	must.True(t, strings.HasPrefix(err.Error(), want), "error %q does not begin with %q", err, want)
}

// oplog stores n operations and returns their CIDs, the first at index 1.
func oplog(t testing.TB, b *blocks, n int) []ipld.CID {
	t.Helper()
	cids := make([]ipld.CID, 1, n+1)
	for seq := 1; seq <= n; seq++ {
		o := must.Get(NextOperation(t.Context(), b, store.Head{Seq: uint64(seq - 1), Operation: cids[seq-1]}))(t)
		o.View, o.Actor, o.Command = link("v"), "a", []string{"test"}
		far := Skip(o.Seq)
		must.Require(t, far == 0 || o.Skip == cids[far], "operation %d skips to the wrong operation", seq)
		cids = append(cids, b.put(t, o))
	}
	return cids
}

func TestOperationAt(t *testing.T) {
	const n = 3000
	b := &blocks{}
	cids := oplog(t, b, n)
	rng := source(t)
	most := 0
	for range 4000 {
		head := 1 + rng.IntN(n)
		seq := 1 + rng.IntN(head)
		b.reads = 0
		at := must.Get(OperationAt(t.Context(), b, cids[head], uint64(seq)))(t)
		must.Require(t, at.CID == cids[seq] && at.Operation.Seq == uint64(seq),
			"operation %d from %d is the one of number %d", seq, head, at.Operation.Seq)
		most = max(most, b.reads)
	}
	// The head, and for each of its bits at most as many links as there are lower bits.
	width := bits.Len(n)
	must.True(t, most <= 1+width*(width+1)/2, "%d reads to go back among %d operations of %d bits", most, n, width)
	for _, seq := range []uint64{0, n + 1} {
		_, err := OperationAt(t.Context(), b, cids[n], seq)
		must.True(t, errors.Is(err, store.ErrNotFound), "operation %d of %d: error %v", seq, n, err)
	}
}

func TestNextOperationReads(t *testing.T) {
	b := &blocks{}
	cids := oplog(t, b, 1024)
	for seq := 1; seq <= 1024; seq++ {
		b.reads = 0
		head := store.Head{Seq: uint64(seq), Operation: cids[seq]}
		must.Get(NextOperation(t.Context(), b, head))(t)
		most := bits.Len(uint(seq)) + 1
		must.True(t, b.reads <= most, "%d reads after operation %d, want at most %d", b.reads, seq, most)
	}
}

func TestOperations(t *testing.T) {
	b := &blocks{}
	cids := oplog(t, b, 20)
	want := uint64(20)
	for e, err := range Operations(t.Context(), b, cids[20]) {
		must.OK(t, err)
		must.Equal(t, e.Operation.Seq, want, "operation")
		must.Equal(t, e.CID, cids[want], "operation")
		want--
	}
	must.Equal(t, want, 0, "the log ends before operation")
	for range Operations(t.Context(), b, ipld.CID{}) {
		t.Error("an operation after no head")
	}
}

// TestOperationsRefuseWrongSequence plants an operation whose parent is not its predecessor.
func TestOperationsRefuseWrongSequence(t *testing.T) {
	b := &blocks{}
	cids := oplog(t, b, 9)
	o := must.Get(ReadOperation(t.Context(), b, cids[9]))(t)
	o.Parent = cids[7]
	bad := b.put(t, o)
	must.Fail(t, must.Err(OperationAt(t.Context(), b, bad, 8)), ipld.ErrInvalid)
	var last error
	for _, err := range Operations(t.Context(), b, bad) {
		last = err
	}
	must.Fail(t, last, ipld.ErrInvalid, "Operations: error")
}

func TestReadErrors(t *testing.T) {
	b := &blocks{}
	c := b.put(t, goldenCommit())
	must.Fail(t, must.Err(ReadStage(t.Context(), b, c)), ipld.ErrInvalid)
	must.Fail(t, must.Err(ReadCommit(t.Context(), b, ipld.CID{})), ipld.ErrCID)
	must.Fail(t, must.Err(ReadNode(t.Context(), b, ipld.Sum(ipld.Raw, nil))), ipld.ErrCID)
	for name, read := range map[string]func() error{
		"commit as graph": func() error { return must.Err(ReadGraph(t.Context(), b, c)) },
		"commit as edge":  func() error { return must.Err(ReadEdge(t.Context(), b, c)) },
	} {
		if err := read(); !errors.Is(err, store.ErrCorrupt) || !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%s: error %v is not about damage", name, err)
		}
	}
	got := must.Get(ReadCommit(t.Context(), b, c))(t, "read commit: error")
	must.Equal(t, cmp.Diff(goldenCommit(), got, equalRecords), "", "read commit: error")
}

// timedLog puts operations with the given times; the CID of operation n is at n.
func timedLog(t testing.TB, b *blocks, times []graph.Time) []ipld.CID {
	t.Helper()
	cids := []ipld.CID{{}}
	for i, at := range times {
		head := store.Head{Seq: uint64(i), Operation: cids[i]}
		o := must.Get(NextOperation(t.Context(), b, head))(t)
		o.View, o.Actor, o.Command, o.Time = link("v"), "a", []string{"x"}, at
		cids = append(cids, b.put(t, o))
	}
	return cids
}

// TestOperationBefore looks up times in logs with clocks that ran forwards, stood still or jumped.
func TestOperationBefore(t *testing.T) {
	const n = 2000
	rng := source(t)
	for _, jumps := range []bool{false, true} {
		b := &blocks{}
		times := make([]graph.Time, n)
		for i := range times {
			times[i] = graph.Time(rng.IntN(n))
		}
		if !jumps {
			slices.Sort(times)
		}
		cids := timedLog(t, b, times)
		most := 0
		for range 3000 {
			head, at := 1+rng.IntN(n), graph.Time(rng.IntN(n+1))
			b.reads = 0
			e, err := OperationBefore(t.Context(), b, cids[head], at)
			most = max(most, b.reads)
			if errors.Is(err, store.ErrNotFound) {
				must.Require(t, times[0] > at, "from %d: no operation at %d, the first is at %d", head, at, times[0])
				continue
			}
			must.OK(t, err)
			seq := int(e.Operation.Seq)
			must.Require(t, e.CID == cids[seq] && times[seq-1] <= at && (seq >= head || times[seq] > at),
				"from %d, time %d: operation %d", head, at, seq)
		}
		if width := bits.Len(n); most > 2+width*(width+1) {
			t.Errorf("jumps %v: %d reads among %d operations of %d bits", jumps, most, n, width)
		}
	}
}

func TestOperationBeforeErrors(t *testing.T) {
	b := &blocks{}
	cids := timedLog(t, b, []graph.Time{5, 6, 7, 8, 9, 10})
	must.Fail(t, must.Err(OperationBefore(t.Context(), b, cids[6], 4)), store.ErrNotFound)
	must.True(t, must.Err(OperationBefore(t.Context(), b, link("gone"), 4)) != nil,
		"a head that is not there is no error")
}

package commit

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func goldenConflict() *Conflict {
	return &Conflict{
		Item:  graph.Item{Kind: graph.NodeItem, ID: graph.NodeID("alice")},
		Cause: graph.EditEdit, Fields: []string{"props.team", "summary"},
		Base: link("b"), Ours: link("o"), Theirs: link("t"),
		Extra: []ipld.Entry{{Key: "mood", Value: ipld.BoolValue(true)}},
	}
}

func goldenMerge() *Merge {
	return &Merge{
		Verb: VerbMerge, Ours: link("o"), Theirs: link("t"), Message: Message{Text: "merge"}, Graph: link("g"),
		Vectors: link("v"), Dropped: 3, Conflicts: link("c"), Resolutions: link("r"),
		Extra: []ipld.Entry{{Key: "mood", Value: ipld.BoolValue(true)}},
	}
}

func TestSetFields(t *testing.T) {
	c := goldenConflict()
	names := []string{"b", "", "a", "b", strings.Repeat("x", MaxConflictField+1)}
	c.SetFields(names)
	must.Same(t, c.Fields, []string{"a", "b"})
	must.Equal(t, names[0], "b", "the names given were changed")
	names = nil
	for i := range 2 * MaxConflictFields {
		names = append(names, fmt.Sprintf("%04d%s", i, strings.Repeat("x", MaxConflictField-4)))
	}
	c.SetFields(names)
	must.OK(t, c.Validate(), "fields")
	must.Equal(t, len(c.Fields), MaxConflictFields, "fields")
}

func TestResolutions(t *testing.T) {
	for _, r := range []Resolution{
		{Take: graph.TakeOurs}, {Take: graph.TakeTheirs}, {Take: graph.TakeBase}, {},
		{Record: link("r")},
	} {
		must.Equal(t, must.Get(DecodeResolution(r.Encode()))(t, "comes back as"), r, "comes back as")
	}
	str := func(s string) []byte { return ipld.AppendString(nil, s) }
	take := func(v []byte) []byte { return append(append(ipld.AppendMap(nil, 1), str("take")...), v...) }
	both := append(ipld.AppendMap(nil, 2), str("take")...)
	both = append(append(both, str("ours")...), str("record")...)
	for name, item := range map[string][]byte{
		"empty": {}, "no map": str("ours"), "nothing": ipld.AppendMap(nil, 0),
		"unknown side": take(str("mine")), "number": take(ipld.AppendInt(nil, 1)),
		"empty side": take(str("")), "bytes after": append(take(str("ours")), 0),
		"side and record": ipld.AppendLink(both, link("r")),
		"unknown field":   append(append(ipld.AppendMap(nil, 1), str("tape")...), str("ours")...),
	} {
		must.Fail(t, must.Err(DecodeResolution(item)), ipld.ErrInvalid, name)
	}
}

func FuzzDecodeMergeRecords(f *testing.F) {
	f.Add(goldenConflict().Encode())
	f.Add(goldenMerge().Encode())
	f.Add(Resolution{Record: link("r")}.Encode())
	f.Fuzz(func(t *testing.T, block []byte) {
		check := func(kind string, encode func() []byte, err error) {
			t.Helper()
			switch {
			case err != nil && !errors.Is(err, ipld.ErrInvalid):
				t.Errorf("%s: error does not wrap ipld.ErrInvalid: %v", kind, err)
			case err == nil && !bytes.Equal(encode(), block):
				t.Errorf("%s: %x encodes to %x", kind, block, encode())
			}
		}
		c, err := DecodeConflict(block)
		check(KindConflict, c.Encode, err)
		m, err := DecodeMerge(block)
		check(KindMerge, m.Encode, err)
		r, err := DecodeResolution(block)
		check("resolution", r.Encode, err)
	})
}

// random returns a history of n commits with clocks in no order.
func random(t *testing.T, rng *rand.Rand, n int) *history {
	h := &history{}
	for i := range n {
		var parents []int
		for range rng.IntN(4) {
			if p := max(0, i-1-rng.IntN(6)); i > 0 && !slices.Contains(parents, p) {
				parents = append(parents, p)
			}
		}
		h.add(t, graph.Time(rng.IntN(6)), parents...)
	}
	return h
}

// reach returns the numbers of the commits that commit i reaches, itself included.
func (h *history) reach(i int) map[int]bool {
	out := map[int]bool{i: true}
	for at := i; at >= 0; at-- {
		if !out[at] {
			continue
		}
		for _, p := range h.commits[at].Parents {
			out[slices.Index(h.cids, p)] = true
		}
	}
	return out
}

// naiveBases is the definition: common ancestors that no other one reaches.
func (h *history) naiveBases(a, b int) []ipld.CID {
	left, right := h.reach(a), h.reach(b)
	var bases []ipld.CID
	for i := range h.cids {
		best := left[i] && right[i]
		for j := range h.cids {
			if best && j != i && left[j] && right[j] && h.reach(j)[i] {
				best = false
			}
		}
		if best {
			bases = append(bases, h.cids[i])
		}
	}
	slices.SortFunc(bases, ipld.CID.Compare)
	return bases
}

func TestAncestryAgainstNaive(t *testing.T) {
	rng := source(t)
	rounds, several := effort.Pick(200, 200, 10_000), 0
	for range rounds {
		h := random(t, rng, 1+rng.IntN(20))
		for range 4 {
			a, b := rng.IntN(len(h.cids)), rng.IntN(len(h.cids))
			got := must.Get(MergeBases(t.Context(), h, h.cids[a], h.cids[b]))(t, "merge bases of ", a, " and ", b)
			must.Same(t, got, h.naiveBases(a, b), "merge bases of ", a, " and ", b)
			if len(got) > 1 {
				several++
			}
			is, err := IsAncestor(t.Context(), h, h.cids[a], h.cids[b])
			want := h.reach(b)[a]
			must.Require(t, err == nil && is == want, "%d is an ancestor of %d: %t, %v, want %t", a, b, is, err, want)
		}
	}
	must.True(t, several != 0, "no pair with several merge bases")
}

// TestMergeBaseReads bounds how much finding a near base in a long history reads.
func TestMergeBaseReads(t *testing.T) {
	h := &history{}
	h.add(t, 0)
	for i := 1; i < 500; i++ {
		h.add(t, graph.Time(i), i-1)
	}
	h.add(t, 1, 489) // next to the last ten
	h.reads = 0
	bases, err := MergeBases(t.Context(), h, h.cids[499], h.cids[500])
	must.True(t, err == nil && len(bases) == 1 && bases[0] == h.cids[489], "merge bases %v, %v", bases, err)
	must.True(t, h.reads <= 13, "%d reads for a base ten commits back", h.reads)
	h.reads = 0
	is, err := IsAncestor(t.Context(), h, h.cids[500], h.cids[499])
	must.True(t, !is && err == nil, "a sibling is an ancestor: %t, %v", is, err)
	must.True(t, h.reads <= 13, "%d reads to see that a sibling is no ancestor", h.reads)
	missing := link("missing")
	must.Fail(t, must.Err(MergeBases(t.Context(), h, h.cids[0], missing)), store.ErrNotFound)
	must.Fail(t, must.Err(IsAncestor(t.Context(), h, missing, h.cids[0])), store.ErrNotFound)
}

func goldenRedaction() *Redaction {
	return &Redaction{
		What: ErasedNode, Node: graph.NodeID("alice"), Actor: "Alice",
		Time: 1_790_000_000_000_000, Reason: "asked to be forgotten",
	}
}

// TestHorizon drops old operations repeatedly, and looks up all that are left, on a growing log.
func TestHorizon(t *testing.T) {
	const n, window = 700, 50
	ctx := t.Context()
	b := &blocks{}
	cids := oplog(t, b, 1)
	horizon := uint64(0)
	for seq := uint64(2); seq <= n; seq++ {
		o := must.Get(NextOperation(ctx, b, store.Head{Seq: seq - 1, Operation: cids[seq-1]}))(t)
		must.Equal(t, o.Horizon, horizon, "operation ", seq, ": horizon")
		o.View, o.Actor, o.Command = link("v"), "a", []string{"test"}
		if seq%37 == 0 && seq > window {
			horizon = seq - window
			o.Horizon = horizon
		}
		cids = append(cids, b.put(t, o))
		if o.Horizon == 0 || seq%37 != 0 {
			continue
		}
		for old := uint64(1); old < horizon; old++ {
			if !slices.Contains(Kept(horizon), old) {
				delete(b.data, cids[old])
			}
		}
		count := uint64(0)
		for e, err := range Operations(ctx, b, cids[seq]) {
			must.OK(t, err, "operation ", count, " before ", seq)
			must.Equal(t, e.CID, cids[seq-count], "operation ", count, " before ", seq)
			count++
		}
		must.True(t, count == window+1, "%d operations after number %d, want %d", count, seq, window+1)
		for at := uint64(1); at <= seq; at++ {
			e, err := OperationAt(ctx, b, cids[seq], at)
			must.True(t, at >= horizon || errors.Is(err, store.ErrNotFound),
				"operation %d behind the horizon: %v", at, err)
			must.True(t, at < horizon || (err == nil && e.CID == cids[at]),
				"operation %d of %d, horizon %d: %v", at, seq, horizon, err)
		}
	}
	must.Require(t, horizon != 0, "nothing was let go of")
}

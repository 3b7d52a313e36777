package commit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

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
			got, err := MergeBases(t.Context(), h, h.cids[a], h.cids[b])
			must.OK(t, err, "merge bases of ", a, " and ", b)
			must.Same(t, got, h.naiveBases(a, b), "merge bases of ", a, " and ", b)
			if len(got) > 1 {
				several++
			}
			is, err := IsAncestor(t.Context(), h, h.cids[a], h.cids[b])
			if want := h.reach(b)[a]; err != nil || is != want {
				t.Fatalf("%d is an ancestor of %d: %t, %v, want %t", a, b, is, err, want)
			}
		}
	}
	must.Check(t, several != 0, "no pair with several merge bases")
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
	must.Check(t, err == nil && len(bases) == 1 && bases[0] == h.cids[489], "merge bases %v, %v", bases, err)
	must.Check(t, h.reads <= 13, "%d reads for a base ten commits back", h.reads)
	h.reads = 0
	if is, err := IsAncestor(t.Context(), h, h.cids[500], h.cids[499]); is || err != nil {
		t.Errorf("a sibling is an ancestor: %t, %v", is, err)
	}
	must.Check(t, h.reads <= 13, "%d reads to see that a sibling is no ancestor", h.reads)
	missing := link("missing")
	_, err = MergeBases(t.Context(), h, h.cids[0], missing)
	must.Fail(t, err, store.ErrNotFound)
	_, err = IsAncestor(t.Context(), h, missing, h.cids[0])
	must.Fail(t, err, store.ErrNotFound)
}

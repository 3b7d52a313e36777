package outline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/distill"
)

func byCommunity(t testing.TB, r *core.Repo, opt outline.DigestOptions) *outline.Digests {
	t.Helper()
	recipe := must.Get(distill.ParseRules([]string{"community", "prop:team"}))(t)
	return must.Get(outline.Open(t.Context(), repokit.Head(t, r), recipe, opt))(t)
}

// TestDigestsByCommunity: whatever nodes and edges come and go, digests by communities are those made from
// scratch, by another repository and in one step.
func TestDigestsByCommunity(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 7))
		edited, _ := repokit.OverMem(t)
		var all strings.Builder
		const nodes = 60
		for i := range nodes {
			fmt.Fprintf(&all, `{"node":{"key":"n%d","type":"Note","summary":"Note %d moors the boat %d."}}`+"\n", i, i, i*7%13)
		}
		edges := map[[2]int]bool{}
		change := func() string {
			a := rng.IntN(nodes)
			b := (a/12)*12 + rng.IntN(12) // mostly of the same twelve
			if rng.IntN(12) == 0 {
				b = rng.IntN(nodes)
			}
			switch e := [2]int{a, b}; {
			case rng.IntN(8) == 0:
				return fmt.Sprintf(`{"node":{"key":"n%d","type":"Note","summary":"Note %d is %d now."}}`+"\n", a, a, rng.IntN(99))
			case a == b:
				return ""
			case edges[e]:
				delete(edges, e)
				return fmt.Sprintf(`{"remove":{"edge":{"type":"near","src":"n%d","dst":"n%d"}}}`+"\n", a, b)
			default:
				edges[e] = true
				return fmt.Sprintf(`{"edge":{"type":"near","src":"n%d","dst":"n%d"}}`+"\n", a, b)
			}
		}
		for range 150 {
			all.WriteString(change())
		}
		repokit.Lines(t, edited, all.String())
		byCommunity(t, edited, keepDigests)
		for step := range 6 {
			var some strings.Builder
			for range 1 + rng.IntN(20) {
				some.WriteString(change())
			}
			if some.Len() > 0 {
				repokit.Lines(t, edited, some.String())
				all.WriteString(some.String())
			}
			got := byCommunity(t, edited, keepDigests)
			scratch, _ := repokit.OverMem(t)
			repokit.Lines(t, scratch, all.String())
			want := byCommunity(t, scratch, outline.DigestOptions{})
			if got.Root != want.Root || got.Scopes.Root() != want.Scopes.Root() ||
				got.Hashes.Root() != want.Hashes.Root() {
				t.Fatalf("seed %d, step %d: other digests than from scratch", seed, step)
			}
			if !got.Found || got.Scopes.Len() < 3 {
				t.Errorf("seed %d, step %d: from kept ones %v, %d scopes", seed, step, got.Found, got.Scopes.Len())
			}
		}
		checkCommunities(t, edited)
	}
}

// checkCommunities: each community is a scope of its members, and texts of other recipes have other sources.
func checkCommunities(t *testing.T, r *core.Repo) {
	t.Helper()
	d := byCommunity(t, r, outline.DigestOptions{})
	p := must.Get(outline.Communities(t.Context(), repokit.Head(t, r)))(t)
	for number := range p.Len() {
		ids := make([]graph.ID, 0, len(p.Members(number)))
		for _, m := range p.Members(number) {
			ids = append(ids, m.ID)
		}
		least := slices.MinFunc(ids, graph.ID.Compare)
		must.Equal(t, p.Smallest(number), least, "the smallest of community ", number, " is said to be")
		name := distill.CommunityName(least)
		one, _, err := d.Top(t.Context(), d.Blocks, distill.PseudoScope(name))
		if err != nil || one == nil || one.Facts != len(ids) || one.Name != name || !distill.IsCommunity(one.Name) {
			t.Errorf("%s of %d: %+v, %v", name, len(ids), one, err)
		}
	}
	root, _, err := d.Top(t.Context(), d.Blocks, graph.ID{})
	must.OK(t, err)
	other := digestsOf(t, repokit.Head(t, r), outline.DigestOptions{})
	plain, _, err := other.Top(t.Context(), other.Blocks, graph.ID{})
	must.Check(t, err == nil && plain.Source != root.Source, "two recipes have one source, %v", err)
	repokit.CheckClean(t, r)
}

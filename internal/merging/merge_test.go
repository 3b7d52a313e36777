package merging_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestMergeLaws checks laws that every merge satisfies, on random states of one base: merging the base or the same
// again changes nothing, sides may be swapped, and three branches that changed different things may be merged in
// any order.
func TestMergeLaws(t *testing.T) {
	effort.Alone(t)
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		r, w := repokit.OpenMem(t), repokit.World{}
		var text strings.Builder
		for len(w) < 10 {
			text.WriteString(w.Step(rng))
		}
		base := repokit.Lines(t, r, text.String()).Commit
		var sides [3]ipld.CID
		for i := range sides {
			branch := fmt.Sprintf("s%d", i)
			repokit.Fork(t, r, branch, base)
			change := fmt.Sprintf(`{"node":{"key":"own%d","type":"T"}}`+"\n", i)
			for j := range 6 { // each side has its own keys, and endpoints that all sides have
				k := fmt.Sprintf("k%d", 2*j)
				if w[repokit.NodeName(k)] != nil {
					change += fmt.Sprintf(`{"node":{"key":%q,"props":{"side%d":%d}}}`+"\n", k, i, rng.IntN(9))
					change += fmt.Sprintf(`{"edge":{"type":"own","src":"own%d","dst":%q}}`+"\n", i, k)
				}
			}
			sides[i] = repokit.On(t, r, branch, change)
		}
		s := must.Get(r.At(t.Context(), sides[0]))(t)
		must.Equal(t, repokit.GraphOf(t, r, sides[0], base), s.Graph(), "seed ", seed, ": merge(x, base)")
		must.Equal(t, repokit.GraphOf(t, r, sides[0], sides[0]), s.Graph(), "seed ", seed, ": merge(x, x)")
		for _, to := range []ipld.CID{base, sides[0]} { // the same for states, whatever the history
			repokit.Fork(t, r, "into", sides[0])
			res, err := merging.CherryPick(t.Context(), r, base.String()+".."+to.String(), repokit.Options("into"))
			must.Require(t, err == nil && res.NoChange, "seed %d: %+v, %v, want no change", seed, res, err)
		}
		graphs := map[ipld.CID]bool{}
		for _, order := range [][3]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}} {
			repokit.GraphOf(t, r, sides[order[0]], sides[order[1]])
			res := must.Get(merging.Merge(t.Context(), r, sides[order[2]].String(), repokit.Options("into")))(t)
			graphs[res.Graph] = true
		}
		must.Require(t, len(graphs) == 1, "seed %d: the order decides: %v", seed, graphs)
	}
}

// TestResolveMovedBranch continues a merge after others committed to the branch.
func TestResolveMovedBranch(t *testing.T) {
	for text, clean := range map[string]bool{
		`{"node":{"key":"d","summary":"D"}}`: true, `{"node":{"key":"a","summary":"A9"}}`: false,
	} {
		r, _, theirs := repokit.Conflicted(t)
		moved := repokit.Lines(t, r, text).Commit
		repokit.Resolve(t, r, "a", merging.Choice{Take: graph.TakeTheirs})
		repokit.Resolve(t, r, "b", merging.Choice{Take: graph.TakeOurs})
		res, err := merging.ContinueMerge(t.Context(), r, repokit.Options(""))
		if !clean {
			must.Fail(t, err, state.ErrConflict, text)
			must.Equal(t, repokit.Head(t, r).CID(), moved, text)
			continueMoved(t, r, moved, theirs)
			continue
		}
		must.Require(t, err == nil && res.Parents[0] == moved && res.Parents[1] == theirs,
			"%s: %+v, %v", text, res, err)
		must.True(t, repokit.NodeByKey(t, repokit.Head(t, r), "a").Summary == "A2" &&
			repokit.NodeByKey(t, repokit.Head(t, r), "d").Summary == "D", "something of the three is lost")
	}
}

// continueMoved continues after the branch moved away from the resolved state, which then becomes a commit that merges.
func continueMoved(t *testing.T, r *core.Repo, moved, theirs ipld.CID) {
	t.Helper()
	p, err := r.PendingMerge(t.Context(), "")
	must.Require(t, err == nil && p.Ours == moved && p.Open() == 1 && len(p.Conflicts) == 1 &&
		p.Conflicts[0].Label == "a", "pending %+v, %v", p, err)
	kept, err := r.At(t.Context(), p.Theirs)
	must.Require(t, err == nil && repokit.NodeByKey(t, kept, "a").Summary == "A2" && kept.Commit().Parents[1] == theirs,
		"what was resolved: %+v, %v", kept.Commit(), err)
	repokit.CheckClean(t, r)
	must.Fail(t, must.Err(merging.ContinueMerge(t.Context(), r, repokit.Options(""))), state.ErrConflict)
	repokit.Resolve(t, r, "a", merging.Choice{Take: graph.TakeTheirs})
	res, err := merging.ContinueMerge(t.Context(), r, repokit.Options(""))
	must.Require(t, err == nil && res.Parents[0] == moved && res.Parents[1] == p.Theirs, "%+v, %v", res, err)
	s := repokit.Head(t, r)
	must.Equal(t, repokit.NodeByKey(t, s, "a").Summary, "A2", "a")
	must.True(t, must.Err(s.Name(t.Context(), "b")) != nil, "the decision about b is lost")
	must.Fail(t, must.Err(r.PendingMerge(t.Context(), "")), store.ErrNotFound)
	repokit.CheckClean(t, r)
}

func TestResolveRefuses(t *testing.T) {
	r, ours, _ := repokit.Conflicted(t)
	opt := core.CommitOptions{Stamp: repokit.By}
	cases := map[string]struct {
		item   string
		choice merging.Choice
		want   error
	}{
		"nothing":         {"a", merging.Choice{}, state.ErrInvalid},
		"two ways":        {"a", merging.Choice{Take: "ours", Changes: repokit.Changes("").Changes}, state.ErrInvalid},
		"an unknown side": {"a", merging.Choice{Take: "mine"}, state.ErrInvalid},
		"an unknown item": {"d", merging.Choice{Take: "ours"}, store.ErrNotFound},
		"another node":    {"a", repokit.Changes(`{"node":{"key":"b","type":"T"}}`), state.ErrInvalid},
		"an embedding": {"a", repokit.Changes(`{"embedding":{"node":"a","model":"m","vector":[1]}}`),
			state.ErrInvalid},
		"no line":           {"a", repokit.Changes("\n"), state.ErrInvalid},
		"a bad line":        {"a", repokit.Changes(`{"node":`), graph.ErrInvalid},
		"removing what not": {"b", repokit.Changes(`{"remove":{"node":"b"}}`), graph.ErrInvalid},
	}
	for name, c := range cases {
		must.Fail(t, must.Err(merging.ResolveConflict(t.Context(), r, c.item, c.choice, opt)), c.want, name)
	}
	var busy *core.InProgressError
	for name, fn := range map[string]func() error{
		"merge":  func() error { return must.Err(merging.Merge(t.Context(), r, "draft", repokit.Options(""))) },
		"revert": func() error { return must.Err(merging.Revert(t.Context(), r, "HEAD", repokit.Options(""))) },
		"pick":   func() error { _, err := merging.CherryPick(t.Context(), r, "draft", repokit.Options("")); return err },
	} {
		err := fn()
		must.True(t, errors.As(err, &busy) && errors.Is(err, state.ErrConflict), "%s during a merge: %v", name, err)
	}
	must.Equal(t, must.Get(merging.AbortMerge(t.Context(), r, opt))(t), "main", "abort")
	must.Equal(t, repokit.Head(t, r).CID(), ours, "the branch moved")
	must.Fail(t, must.Err(merging.AbortMerge(t.Context(), r, opt)), store.ErrNotFound)
	bad := repokit.Options("")
	bad.Prefer = "mine"
	must.Fail(t, must.Err(merging.Merge(t.Context(), r, "draft", bad)), state.ErrInvalid)
}

// TestResolveContradiction takes an edge whose end is resolved as removed.
func TestResolveContradiction(t *testing.T) {
	r := repokit.OpenMem(t)
	base := repokit.Lines(t, r, `
{"node":{"key":"a","type":"T"}}
{"node":{"key":"b","type":"T"}}
{"node":{"key":"c","type":"T"}}`).Commit
	repokit.Fork(t, r, "draft", base)
	repokit.Lines(t, r, `
{"node":{"key":"b","summary":"B"}}
{"edge":{"type":"e","src":"b","dst":"c"}}`)
	repokit.On(t, r, "draft", `
{"remove":{"node":"b"}}
{"remove":{"node":"c"}}`)
	res, err := merging.Merge(t.Context(), r, "draft", repokit.Options(""))
	must.Require(t, len(res.Conflicts) == 2 && errors.Is(err, state.ErrConflict), "%+v, %v", res, err)
	edge := res.Conflicts[0]
	must.Equal(t, edge.Kind, graph.EndRemoved)
	must.Equal(t, edge.Label, "b -e-> c")
	repokit.Resolve(t, r, "b", merging.Choice{Take: graph.TakeTheirs})
	repokit.Resolve(t, r, edge.Item.String(), merging.Choice{Take: graph.TakeOurs})
	must.Fail(t, must.Err(merging.ContinueMerge(t.Context(), r, repokit.Options(""))), state.ErrInvalid)
	repokit.Resolve(t, r, "b", merging.Choice{Take: graph.TakeOurs})
	must.Get(merging.ContinueMerge(t.Context(), r, repokit.Options("")))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{3, 1, 0, 0}, "sizes")
}

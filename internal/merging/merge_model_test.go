package merging_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// modelCommit is a commit of the naive history.
type modelCommit struct {
	world   repokit.World
	parents []ipld.CID
	known   map[ipld.CID]bool // reachable commits, itself included
}

// modelHistory is a naive model of a repository's history.
type modelHistory struct {
	t        *testing.T
	rng      *rand.Rand
	r        *core.Repo
	commits  map[ipld.CID]*modelCommit
	branches map[string]ipld.CID
	clock    graph.Time
	merges   map[string]int // kinds of what happened, for the log
}

func (h *modelHistory) stamp() state.Stamp {
	h.clock += 1_000_000
	return state.Stamp{Author: repokit.By.Author, Time: h.clock, Command: []string{"test"}}
}

func (h *modelHistory) at(branch string) *modelCommit { return h.commits[h.branches[branch]] }

func (h *modelHistory) snapshot(c ipld.CID) *core.Snapshot {
	h.t.Helper()
	s, err := h.r.At(h.t.Context(), c)
	must.OK(h.t, err)
	return s
}

// landed records a new commit of a branch and compares it with the model.
func (h *modelHistory) landed(branch string, c ipld.CID, w repokit.World, parents ...ipld.CID) {
	h.t.Helper()
	if h.commits[c] == nil {
		known := map[ipld.CID]bool{c: true}
		for _, p := range parents {
			maps.Copy(known, h.commits[p].known)
		}
		h.commits[c] = &modelCommit{w, parents, known}
	}
	h.branches[branch] = c
	w.Check(h.t, h.snapshot(c))
}

func (h *modelHistory) branch() string {
	names := slices.Sorted(maps.Keys(h.branches))
	return names[h.rng.IntN(len(names))]
}

// commit makes a few changes on a branch.
func (h *modelHistory) commit(branch string) {
	h.t.Helper()
	old := h.branches[branch]
	w, text := repokit.World{}, strings.Builder{}
	if c := h.commits[old]; c != nil {
		w = c.world.Clone()
	}
	for range 1 + h.rng.IntN(4) {
		text.WriteString(w.Step(h.rng))
	}
	res, err := h.r.Commit(h.t.Context(), state.ReadChanges(strings.NewReader(text.String()), "model"),
		core.CommitOptions{Stamp: h.stamp(), Branch: branch})
	if err != nil {
		h.t.Fatalf("%v\n%s", err, &text)
	}
	if !res.NoChange {
		parents := []ipld.CID{}
		if old.Defined() {
			parents = append(parents, old)
		}
		h.landed(branch, res.Commit, w, parents...)
	}
}

// base returns the merge base of two commits, naively.
func (h *modelHistory) base(a, b *modelCommit) repokit.World {
	var common []ipld.CID
	for c := range a.known {
		if b.known[c] {
			common = append(common, c)
		}
	}
	best := slices.DeleteFunc(slices.Clone(common), func(c ipld.CID) bool {
		return slices.ContainsFunc(common, func(d ipld.CID) bool {
			return c != d && h.commits[d].known[c]
		})
	})
	slices.SortFunc(best, ipld.CID.Compare)
	if len(best) == 0 {
		return repokit.World{}
	}
	if len(best) > 1 {
		h.merges["virtual"]++
	}
	virtual := h.commits[best[0]]
	for _, c := range best[1:] {
		next := h.commits[c]
		m := repokit.MergeWorlds(h.base(virtual, next), virtual.world, next.world, true)
		known := maps.Clone(virtual.known)
		maps.Copy(known, next.known)
		virtual = &modelCommit{world: m.Out, known: known}
	}
	return virtual.world
}

// expect compares conflicts with those of the model.
func (h *modelHistory) expect(what string, m *repokit.WorldMerge, got []core.Conflict) {
	h.t.Helper()
	have := make(map[string]graph.ConflictKind)
	for _, c := range got {
		have[c.Item.String()] = c.Kind
	}
	if !maps.Equal(have, m.Conflicts) {
		h.t.Fatalf("%s: conflicts %v, want %v", what, have, m.Conflicts)
	}
}

// merge merges one branch into another, from either side.
func (h *modelHistory) merge(into, from string) {
	h.t.Helper()
	ctx := h.t.Context()
	ours, theirs := h.at(into), h.at(from)
	head, other := h.branches[into], h.branches[from]
	if ours.known[other] || theirs.known[head] {
		res, err := merging.Merge(ctx, h.r, from, h.options(into, ""))
		if err != nil || res.UpToDate != ours.known[other] || res.FastForward == ours.known[other] {
			h.t.Fatalf("merge %s into %s: %+v, %v", from, into, res, err)
		}
		h.landed(into, res.Commit, h.commits[res.Commit].world)
		return
	}
	m := repokit.MergeWorlds(h.base(ours, theirs), ours.world, theirs.world, false)
	mirror := h.mirror(from, into, m)
	if len(m.Conflicts) == 0 {
		res, err := merging.Merge(ctx, h.r, from, h.options(into, ""))
		if err != nil {
			h.t.Fatalf("merge %s into %s: %v", from, into, err)
		}
		h.merges["clean"]++
		h.landed(into, res.Commit, m.Out, head, other)
		if res.Graph != mirror {
			h.t.Fatalf("merge of %s and %s: graph %s, from the other side %s", into, from, res.Graph, mirror)
		}
		return
	}
	run := func(take graph.Take) (*merging.MergeResult, error) {
		return merging.Merge(ctx, h.r, from, h.options(into, take))
	}
	h.conflicted(into, from, m, []ipld.CID{head, other}, run)
}

// mirror tries the merge in the other direction and returns the graph if that is clean.
func (h *modelHistory) mirror(into, from string, m *repokit.WorldMerge) ipld.CID {
	h.t.Helper()
	trial, err := h.r.Trial(h.t.Context())
	must.OK(h.t, err)
	res, err := merging.Merge(h.t.Context(), trial, from, h.options(into, ""))
	if len(m.Conflicts) == 0 {
		if err != nil {
			h.t.Fatalf("merge %s into %s: %v, clean from the other side", from, into, err)
		}
		return res.Graph
	}
	if !errors.Is(err, state.ErrConflict) {
		h.t.Fatalf("merge %s into %s: %v, want conflicts %v", from, into, err, m.Conflicts)
	}
	h.expect("mirrored", m, res.Conflicts)
	return ipld.CID{}
}

func (h *modelHistory) options(branch string, take graph.Take) core.MergeOptions {
	return core.MergeOptions{
		CommitOptions: core.CommitOptions{Stamp: h.stamp(), Branch: branch}, Prefer: take,
	}
}

// conflicted resolves the conflicts: all at once, or one by one.
func (h *modelHistory) conflicted(
	into, what string, m *repokit.WorldMerge, parents []ipld.CID,
	merge func(graph.Take) (*merging.MergeResult, error),
) {
	h.t.Helper()
	sides := []graph.Take{graph.TakeOurs, graph.TakeTheirs, graph.TakeBase}
	all := sides[h.rng.IntN(len(sides))]
	if h.rng.IntN(2) == 0 {
		res, err := merge(all)
		if err != nil {
			h.t.Fatalf("merge %s taking %s: %v", what, all, err)
		}
		h.merges["preferred"]++
		h.expect("preferred", m, res.Conflicts)
		h.finish(into, res, m.Resolve(func(string) graph.Take { return all }), parents)
		return
	}
	res, err := merge("")
	if !errors.Is(err, state.ErrConflict) {
		h.t.Fatalf("merge %s: %v, want a conflict", what, err)
	}
	h.expect("kept", m, res.Conflicts)
	takes := make(map[string]graph.Take)
	for _, c := range res.Conflicts {
		takes[c.Item.String()] = sides[h.rng.IntN(len(sides))]
		_, err := merging.ResolveConflict(h.t.Context(), h.r, c.Item.String(),
			merging.Choice{Take: takes[c.Item.String()]},
			core.CommitOptions{Stamp: h.stamp(), Branch: into})
		must.OK(h.t, err)
	}
	res, err = merging.ContinueMerge(h.t.Context(), h.r, h.options(into, ""))
	if errors.Is(err, state.ErrInvalid) { // the side taken references something that the other removed
		h.merges["contradictory"]++
		_, err := merging.AbortMerge(h.t.Context(), h.r, core.CommitOptions{Stamp: h.stamp(), Branch: into})
		must.OK(h.t, err)
		return
	}
	must.OK(h.t, err)
	h.merges["one by one"]++
	h.finish(into, res, m.Resolve(func(item string) graph.Take { return takes[item] }), parents)
}

func (h *modelHistory) finish(into string, res *merging.MergeResult, w repokit.World, parents []ipld.CID) {
	h.t.Helper()
	if res.NoChange {
		w.Check(h.t, h.snapshot(h.branches[into]))
		return
	}
	h.landed(into, res.Commit, w, parents...)
}

// revert undoes a random or a new commit of a branch's history.
func (h *modelHistory) revert(branch string) {
	h.t.Helper()
	head := h.at(branch)
	all := slices.SortedFunc(maps.Keys(head.known), ipld.CID.Compare)
	c := all[h.rng.IntN(len(all))]
	if h.rng.IntN(3) == 0 {
		c = h.branches[branch]
	}
	what, before, parent := h.commits[c], repokit.World{}, ipld.CID{}
	if len(what.parents) > 0 {
		parent = what.parents[0]
		before = h.commits[parent].world
	}
	m := repokit.MergeWorlds(what.world, head.world, before, false)
	old := []ipld.CID{h.branches[branch]}
	run := func(take graph.Take) (*merging.MergeResult, error) {
		return merging.Revert(h.t.Context(), h.r, c.String(), h.options(branch, take))
	}
	if len(m.Conflicts) > 0 {
		h.conflicted(branch, "revert", m, old, run)
		return
	}
	res, err := run("")
	if err != nil {
		h.t.Fatalf("revert: %v", err)
	}
	h.merges["reverted"]++
	h.finish(branch, res, m.Out, old)
	if c == old[0] && parent.Defined() && res.Graph != h.snapshot(parent).Graph() {
		h.t.Fatalf("revert of the newest commit gives %s, want %s", res.Graph, h.snapshot(parent).Graph())
	}
}

// stepOrUndo takes a step and now and then undoes it, operation by operation, and perhaps redoes it.
func (h *modelHistory) stepOrUndo(i int) {
	h.t.Helper()
	before, last := maps.Clone(h.branches), h.newest()
	h.step(i)
	n := 0
	for e, err := range h.r.OpLog().All(h.t.Context()) {
		must.OK(h.t, err)
		if e.CID == last {
			break
		}
		n++
	}
	if n == 0 || h.rng.IntN(6) > 0 {
		return
	}
	after := maps.Clone(h.branches)
	for range n {
		_, err := history.Undo(h.t.Context(), h.r, "", h.stamp())
		must.OK(h.t, err)
	}
	h.branches = before
	h.merges["undone"]++
	h.refs()
	if h.rng.IntN(2) > 0 {
		return
	}
	for range n {
		_, err := history.Redo(h.t.Context(), h.r, h.stamp())
		must.OK(h.t, err)
	}
	h.branches = after
	h.merges["redone"]++
	h.refs()
}

// newest returns the newest operation.
func (h *modelHistory) newest() ipld.CID {
	h.t.Helper()
	for e, err := range h.r.OpLog().All(h.t.Context()) {
		must.OK(h.t, err)
		return e.CID
	}
	return ipld.CID{}
}

// refs compares all branches, and checks that no merge is left in progress.
func (h *modelHistory) refs() {
	h.t.Helper()
	refs, err := h.r.Refs(h.t.Context())
	must.OK(h.t, err)
	seen := 0
	for _, ref := range refs {
		branch, ok := strings.CutPrefix(string(ref.Name), graph.Heads)
		switch {
		case ok && ref.Target == h.branches[branch]:
			seen++
		case ok:
			h.t.Fatalf("branch %s is at %s, want %s", branch, ref.Target, h.branches[branch])
		case ref.Name != graph.Head:
			h.t.Fatalf("ref %s", ref.Name)
		}
	}
	if seen != len(h.branches) {
		h.t.Fatalf("%d branches, want %d", seen, len(h.branches))
	}
}

// TestHistories makes random histories of commits, branches, merges, reverts, undo and redo, and
// compares every commit with a naive model.
func TestHistories(t *testing.T) {
	effort.Alone(t)
	runs, steps := effort.Pick(30, 100, 1000), effort.Pick(40, 40, 60)
	if os.Getenv(repokit.DatabaseEnv) != "" {
		runs /= 2 // the result of a merge does not depend on where its blocks are
	}
	total := make(map[string]int)
	for seed := range uint64(runs) {
		h := &modelHistory{
			t: t, rng: rand.New(rand.NewPCG(seed, 1)), r: repokit.OpenMem(t), merges: total,
			commits:  make(map[ipld.CID]*modelCommit),
			branches: map[string]ipld.CID{"main": {}}, clock: 1_700_000_000_000_000,
		}
		for !h.branches["main"].Defined() {
			h.commit("main")
		}
		for i := range steps {
			h.stepOrUndo(i)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	t.Logf("%d histories of %d steps: %v", runs, steps, total)
	for _, kind := range []string{
		"clean", "virtual", "preferred", "one by one", "reverted", "undone", "redone",
	} {
		if total[kind] == 0 {
			t.Errorf("no merge was %s", kind)
		}
	}
}

func (h *modelHistory) fork(name string, at ipld.CID) {
	h.t.Helper()
	must.OK(h.t, repokit.ForkBranch(h.t.Context(), h.r, name, at))
	h.branches[name] = at
}

func (h *modelHistory) step(i int) {
	h.t.Helper()
	branch := h.branch()
	switch n := h.rng.IntN(100); {
	case n < 10 && len(h.branches) < 4:
		name := fmt.Sprintf("b%d", i)
		h.fork(name, h.branches[branch])
	case n < 60:
		h.commit(branch)
	case n < 80:
		if other := h.branch(); other != branch {
			h.merge(branch, other)
		}
	case n < 90: // a criss-cross merge
		if other := h.branch(); other != branch && other != "cross" && branch != "cross" {
			h.fork("cross", h.branches[branch])
			h.merge(branch, other)
			h.merge(other, "cross")
		}
	default:
		h.revert(branch)
	}
}

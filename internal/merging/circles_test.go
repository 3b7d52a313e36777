package merging_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

func supersede(old, by string) string {
	return fmt.Sprintf("{\"mark\":{\"node\":%q,\"state\":\"superseded\",\"by\":%q}}\n", old, by)
}

func unmark(key string) string { return fmt.Sprintf("{\"remove\":{\"mark\":{\"node\":%q}}}\n", key) }

func keyOf(n int) string { return fmt.Sprintf("p%d", n) }

// circular reports whether a chain of superseding nodes in a snapshot forms a cycle.
func circular(t *testing.T, s *core.Snapshot) bool {
	t.Helper()
	by := make(map[graph.ID]graph.ID)
	for m, err := range s.Marks(t.Context(), graph.OnNode) {
		must.OK(t, err)
		if m.State == graph.Superseded && !m.By.IsZero() {
			by[m.ID] = m.By
		}
	}
	for id := range by {
		for range len(by) + 1 {
			id = by[id]
		}
		if !id.IsZero() {
			return true
		}
	}
	return false
}

// TestCirclesAreRefused commits lines that would make nodes hide each other.
func TestCirclesAreRefused(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, repokit.Person(1)+"\n"+repokit.Person(2)+"\n"+repokit.Person(3))
	for _, tt := range []struct {
		name, text string
		line       int // 0 for accepted
	}{
		{"itself", supersede("p1", "p1"), 1},
		{"two", repokit.Person(9) + "\n" + supersede("p1", "p2") + supersede("p2", "p1") + repokit.Person(8), 3},
		{"three in any order", supersede("p3", "p1") + supersede("p1", "p2") + supersede("p2", "p3"), 3},
		{"taken off again", supersede("p1", "p2") + supersede("p2", "p1") + unmark("p1"), 0},
		{"with one that is there", supersede("p3", "p2") + supersede("p1", "p3"), 2},
		{"the other way round", supersede("p1", "p2") + unmark("p2"), 0},
		{"a chain", supersede("p2", "p3"), 0},
		{"closing it", supersede("p3", "p1"), 1},
		{"another state", `{"mark":{"node":"p3","state":"contradicted","by":"p1"}}`, 0},
	} {
		_, err := repokit.TryLines(r, tt.text)
		var at *graph.LineError
		switch {
		case tt.line == 0 && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.line > 0 && (!errors.As(err, &at) || at.Line != tt.line):
			t.Errorf("%s: %v, want an error of line %d", tt.name, err, tt.line)
		}
	}
}

// TestOppositeSupersedesConflict merges branches that each supersede the other's node.
func TestOppositeSupersedesConflict(t *testing.T) {
	for _, prefer := range []graph.Take{"", graph.TakeOurs, graph.TakeTheirs, graph.TakeBase} {
		r := repokit.OpenMem(t)
		repokit.Lines(t, r, repokit.Person(1)+"\n"+repokit.Person(2))
		repokit.Branch(t, r, "theirs", "HEAD")
		repokit.Lines(t, r, supersede("p1", "p2"))
		repokit.CommitOn(t, r, "theirs", supersede("p2", "p1"))
		opt := core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}, Prefer: prefer}
		res, err := merging.Merge(t.Context(), r, "theirs", opt)
		must.Require(t, len(res.Conflicts) == 2 && res.Conflicts[0].Kind == graph.Circle &&
			res.Conflicts[1].Kind == graph.Circle, "prefer %q: conflicts %+v", prefer, res.Conflicts)
		if prefer != "" {
			must.OK(t, err, "prefer ", prefer)
			continue
		}
		// Either mark can be taken, but not both.
		items := [2]string{res.Conflicts[0].Item.String(), res.Conflicts[1].Item.String()}
		take := func(i int, with graph.Take) {
			t.Helper()
			_, err := merging.ResolveConflict(t.Context(), r, items[i], merging.Choice{Take: with}, opt.CommitOptions)
			must.OK(t, err)
		}
		sides := [2]graph.Take{graph.TakeOurs, graph.TakeTheirs} // by which p1, or p2, has its mark
		if res.Conflicts[0].Label != "p1" {
			sides[0], sides[1] = sides[1], sides[0]
		}
		take(0, sides[0])
		take(1, sides[1])
		var circle *state.CircleError
		_, err = merging.ContinueMerge(t.Context(), r, opt)
		must.True(t, errors.As(err, &circle), "both marks: %v", err)
		take(1, sides[0])
		must.Get(merging.ContinueMerge(t.Context(), r, opt))(t, "one mark")
	}
}

// TestRandomMarksHideNoCircle marks, unmarks and merges at random: no branch ever has nodes that all supersede each
// other, lines are refused for no other reason, and a side can always be taken.
func TestRandomMarksHideNoCircle(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomMarks(t, seed) })
	}
}

func randomMarks(t *testing.T, seed uint64) {
	const nodes, steps = 6, 60
	ctx, rng := t.Context(), rand.New(rand.NewPCG(seed, 6))
	r := repokit.OpenMem(t)
	var all strings.Builder
	for n := range nodes {
		all.WriteString(repokit.Person(n) + "\n")
	}
	repokit.Lines(t, r, all.String())
	names := []string{"main", "b1", "b2"}
	repokit.Branch(t, r, "b1", "HEAD")
	repokit.Branch(t, r, "b2", "HEAD")
	refused, conflicts := 0, 0
	for step := range steps {
		name := names[rng.IntN(len(names))]
		if rng.IntN(4) > 0 {
			text := supersede(keyOf(rng.IntN(nodes)), keyOf(rng.IntN(nodes)))
			switch rng.IntN(5) {
			case 0:
				text = fmt.Sprintf("{\"mark\":{\"node\":%q,\"state\":\"stale\",\"reason\":\"%d\"}}\n",
					keyOf(rng.IntN(nodes)), step)
			case 1:
				key := keyOf(rng.IntN(nodes))
				text = supersede(key, keyOf(rng.IntN(nodes))) + unmark(key)
			}
			_, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(text), "x"),
				core.CommitOptions{Stamp: repokit.By, Branch: name})
			if err != nil {
				refused++
			}
		} else {
			opt := core.MergeOptions{
				CommitOptions: core.CommitOptions{Stamp: repokit.By, Branch: name},
				Prefer:        []graph.Take{graph.TakeOurs, graph.TakeTheirs}[rng.IntN(2)],
			}
			res := must.Get(merging.Merge(ctx, r, names[rng.IntN(len(names))], opt))(t, "step ", step, ": merge")
			for _, c := range res.Conflicts {
				if c.Kind == graph.Circle {
					conflicts++
				}
			}
		}
		for _, name := range names {
			s := must.Get(r.Snapshot(ctx, name))(t)
			must.Require(t, !circular(t, s), "step %d: branch %s has a circle", step, name)
		}
	}
	must.True(t, refused != 0, "nothing was refused: the test tests nothing")
}

// TestFsckFindsCircles repairs a branch with circles, as versions without the rule wrote them.
func TestFsckFindsCircles(t *testing.T) {
	ctx := context.Background()
	f := repokit.Forge(t)
	a, b, c := f.Node("a", ""), f.Node("b", ""), f.Node("c", "")
	times := map[graph.ID]graph.Time{a: 3, b: 1, c: 2}
	for _, pair := range [][2]graph.ID{{a, b}, {b, a}, {c, c}} {
		m := &graph.Mark{On: graph.OnNode, ID: pair[0], State: graph.Superseded, By: pair[1],
			Actor: "f", Time: times[pair[0]]}
		f.Marks[string(graph.MarkKey(graph.OnNode, pair[0]))] = repokit.LinkTo(f.Put(m.Encode()))
	}
	r, _ := repokit.OverMem(t)
	repokit.ImportInto(t, r, f.File(), exchange.ImportOptions{})
	report, err := care.Fsck(ctx, r, care.FsckOptions{})
	must.Require(t, err == nil && len(report.Errors) == 2 && report.Errors[0].Kind == care.FsckCircle,
		"fsck: %+v, %v; want two circles", report.Errors, err)
	res, err := care.Repair(ctx, r, care.FsckOptions{})
	must.True(t, err == nil && len(res.Done) <= 0 && len(res.Report.Errors) == 2,
		"repair without an author: %+v, %v", res, err)
	res, err = care.Repair(ctx, r, care.FsckOptions{By: repokit.By})
	must.Require(t, err == nil && len(res.Done) == 1 && len(res.Report.Errors) <= 0, "repair: %+v, %v", res, err)
	s := repokit.Head(t, r)
	for id, marked := range map[graph.ID]bool{a: true, b: false, c: false} {
		m := must.Get(s.Mark(ctx, graph.OnNode, id))(t)
		must.True(t, (m != nil) == marked, "mark of %s: %+v", id, m)
	}
}

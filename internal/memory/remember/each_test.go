package remember

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestRememberTimes holds that a batch with times makes the graph of single calls at these times, whatever
// the rules find of the requests before: names, likes, causes, values and what was remembered shortly before.
func TestRememberTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	people := []string{"Caroline Smith", "Caroline", "Bob Marlow", "Dana"}
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	for round := range effort.Pick(4, 8, 8) {
		one, all := newMemory(t), newMemory(t)
		seed := said("Dana Dahl leads the harbour team")
		keep(t, one, seed...)
		keep(t, all, seed...)
		var reqs []Request
		at := day0 + graph.Time(hourMicros)
		for i := range 45 {
			at += graph.Time(rng.IntN(9)) * hourMicros / 3
			req := Request{Time: graph.At(at)}
			switch rng.IntN(6) {
			case 0:
				req.Text = fmt.Sprintf("On Monday %s moved to berth %d", pick(people), rng.IntN(4))
			case 1:
				req.Text = fmt.Sprintf("The outage of service %d was caused by the storm", rng.IntN(3))
			case 2:
				req.Text, req.Sources = fmt.Sprintf("Line %d of the log", i), []string{"file:log.md"}
			case 3:
				req.Text = fmt.Sprintf("The team of %s has %d boats", pick(people), rng.IntN(3))
				req.Tags = []string{pick([]string{"boats", "crew"})}
			case 4:
				req.Text = fmt.Sprintf("Bob works at %s", pick([]string{"Initech", "Globex"}))
				req.About, req.Property = "bob", "employer"
			case 5:
				req.Text, req.Cues = "The storm closed the harbour", []string{pick([]string{"weather", "wind"})}
				req.Importance = 1 + rng.IntN(5)
			}
			reqs = append(reqs, req)
		}
		for i, req := range reqs {
			opt := rememberAt(0)
			opt.Time, req.Time = req.Time.Time, graph.OptTime{}
			must.Get(one.Remember(t.Context(), opt, req))(t, "request ", i)
		}
		opt := rememberAt(100)
		res := must.Get(all.RememberAll(t.Context(), opt, reqs))(t)
		must.Equal(t, len(res.Memories), len(reqs), "answers to")
		must.Equal(t, all.headOf(t).Graph(), one.headOf(t).Graph(), "round ", round, ": graph")
		must.Equal(t, all.headOf(t).Commit().Time, opt.Time, "the commit is")
	}
}

// TestRememberTimesBounds holds that no more lines are decided about one by one than memory is kept for.
func TestRememberTimesBounds(t *testing.T) {
	m := newMemory(t)
	reqs := make([]Request, MaxTimed+1)
	for i := range reqs {
		reqs[i].Text = fmt.Sprint("fact ", i)
	}
	reqs[MaxTimed].Time = graph.At(day0)
	_, err := m.RememberAll(t.Context(), rememberAt(1), reqs)
	must.Fail(t, err, state.ErrInvalid)
}

// TestRememberTimesRefuses holds that a refused request is named, and that nothing is written.
func TestRememberTimesRefuses(t *testing.T) {
	m := newMemory(t)
	reqs := said("Alice sails", "Bob rows")
	reqs[0].Time, reqs[1].Supersedes = graph.At(day0), []string{"nobody"}
	_, err := m.RememberAll(t.Context(), rememberAt(1), reqs)
	must.Check(t, err != nil && err.Error() == `memory 2: no node "nobody"`, "error %v", err)
	must.Check(t, !m.headOf(t).CID().Defined(), "something was written")
}

package remember

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestNearest remembers one text after others, and looks which of them it is told to be near to and may replace.
func TestNearest(t *testing.T) {
	const old = "The nightly atlas rebuild starts at 02:30"
	const now = "The atlas rebuild starts at 04:15"
	others := []string{"Orders of 40 euros and more ship for free", "Paul is product owner of the shop",
		"Support answers on weekdays from nine to five"}
	for name, c := range map[string]struct {
		req    Request
		after  int // hours
		near   bool
		settle bool
	}{
		"days later":        {Request{Text: now}, 48, true, true},
		"in one sitting":    {Request{Text: now}, 2, true, false},
		"of something else": {Request{Text: "Ravi is on call in June"}, 48, false, false},
		"not looked for":    {Request{Text: now, NoDiff: true}, 48, false, false},
		"already said":      {Request{Text: now, Supersedes: []string{old}}, 48, false, false},
		"said again":        {Request{Text: old, Tags: []string{"atlas"}}, 48, false, false},
		"by its cues alone": {Request{Text: "Since then 04:15 is the hour",
			Cues: []string{"nightly rebuild", "atlas start"}}, 48, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			first := keep(t, m, said(slices.Concat(others, []string{old})...)...)[len(others)]
			res := must.Get(m.Remember(t.Context(), rememberAt(len(others)+c.after), c.req))(t)
			r := res.Memories[0]
			if near := len(r.Nearest) > 0 && r.Nearest[0].ID == first.ID; near != c.near || !near && len(r.Nearest) > 0 {
				t.Errorf("nearest: %+v", r.Nearest)
			} else if near && (r.Nearest[0].Text != old || r.Nearest[0].Date != day0.String()[:10]) {
				t.Errorf("%+v, of %s", r.Nearest[0], day0)
			}
			if (r.Settle == first.ID) != c.settle || !c.settle && r.Settle != (graph.ID{}) {
				t.Errorf("settle %s, want %t", r.Settle, c.settle)
			}
			must.Equal(t, len(r.Superseded) > 0, c.req.Supersedes != nil, "superseded: ", r.Superseded)
		})
	}
}

// TestBatchAsksNothing remembers several at once: nothing is asked for, and nothing replaced.
func TestBatchAsksNothing(t *testing.T) {
	m := newMemory(t)
	keep(t, m, said("The queue holds 500 messages of a worker")...)
	for _, timed := range []bool{false, true} {
		reqs := said("The queue holds 800 messages of a worker", "The gate is green in May")
		for i := range reqs {
			reqs[i].Time = graph.OptTime{Time: day0 + 80*hourMicros, Given: timed}
		}
		res := must.Get(m.RememberAll(t.Context(), rememberAt(100), reqs))(t)
		for _, r := range res.Memories {
			must.Check(t, len(r.Nearest) <= 0 && r.Settle.IsZero() && len(r.Superseded) <= 0,
				"timed %t: %+v", timed, r)
		}
	}
}

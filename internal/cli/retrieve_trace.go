package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mnem-project/mnem/retrieve"
)

// newTrace returns what --explain has filled in beside an answer.
func (c *cli) newTrace() *retrieve.Trace {
	begin := c.app.Now()
	return &retrieve.Trace{Clock: func() time.Duration { return c.app.Now().Sub(begin) }}
}

// traceJSON is how an answer came about.
type traceJSON struct {
	Fusion retrieve.Fusion   `json:"fusion"`
	Lanes  []laneTraceJSON   `json:"lanes"`
	Stages []stageMicrosJSON `json:"stages"`
}

type laneTraceJSON struct {
	Lane    retrieve.Lane `json:"lane"`
	Weight  int64         `json:"weight"`
	Passed  int           `json:"passed"`
	Found   int           `json:"found"`
	LeftOut leftOutJSON   `json:"left_out"`
	Best    int64         `json:"best"`
	Worst   int64         `json:"worst"`
}

type leftOutJSON struct {
	Exclude int `json:"exclude"`
	Types   int `json:"type"`
	Times   int `json:"time"`
	Where   int `json:"where"`
	Marks   int `json:"marks"`
}

type stageMicrosJSON struct {
	Stage  retrieve.Stage `json:"stage"`
	Micros int64          `json:"micros"`
}

func jsonTrace(t *retrieve.Trace, f retrieve.Fusion) traceJSON {
	out := traceJSON{Fusion: f, Lanes: []laneTraceJSON{}, Stages: []stageMicrosJSON{}}
	for _, l := range t.Lanes {
		out.Lanes = append(out.Lanes, laneTraceJSON{
			l.Lane, l.Weight, l.Passed, l.Found, leftOutJSON(l.LeftOut), l.Best, l.Worst,
		})
	}
	for _, s := range t.Stages {
		out.Stages = append(out.Stages, stageMicrosJSON{s.Stage, s.Took.Microseconds()})
	}
	return out
}

// laneWhyJSON is the arithmetic of fusion for an item's place in a lane.
type laneWhyJSON struct {
	Share  int64 `json:"share"`
	Weight int64 `json:"weight"`
}

// fused returns the arithmetic of a place in a lane, nil where that is not fused.
func (a *answerer) fused(h retrieve.LaneHit, f retrieve.Fusion) *laneWhyJSON {
	if a.trace == nil {
		return nil
	}
	for _, l := range a.trace.Lanes {
		if l.Lane == h.Lane {
			return &laneWhyJSON{l.Share(f, h), l.Weight}
		}
	}
	return nil
}

// printTrace prints what the lanes found and left out, and how long the stages took.
func (a *answerer) printTrace() error {
	if len(a.trace.Lanes) == 0 {
		return nil
	}
	head := func(s string) cell { return cell{s, styleDim} }
	rows := [][]cell{{head("lane"), head("weight"), head("passed"), head("found"), head("scores"),
		head("left out")}}
	for _, l := range a.trace.Lanes {
		rows = append(rows, []cell{{string(l.Lane), styleBold}, {fmt.Sprint(l.Weight), ""},
			{fmt.Sprint(l.Passed), ""}, {fmt.Sprint(l.Found), ""},
			{fmt.Sprintf("%d to %d", l.Best, l.Worst), ""}, {leftOutText(l.LeftOut), ""}})
	}
	if err := a.c.table(rows); err != nil {
		return err
	}
	var took []string
	for _, s := range a.trace.Stages {
		took = append(took, fmt.Sprintf("%s %v", s.Stage, s.Took.Round(time.Microsecond)))
	}
	return a.c.printf("%s\n", strings.Join(took, ", "))
}

// leftOutText says which filters left out how many nodes.
func leftOutText(l retrieve.LeftOut) string {
	var parts []string
	for _, p := range []struct {
		name string
		n    int
	}{{"exclude", l.Exclude}, {"type", l.Types}, {"time", l.Times}, {"where", l.Where},
		{"marks", l.Marks}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", p.name, p.n))
		}
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

package stage

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

const dayLength = 86_400_000_000

// onDay returns some time of a day that is written as a date.
func onDay(s string) graph.Time {
	t, err := graph.ParseTime(s)
	if err != nil {
		panic(err)
	}
	return t + dayLength/2
}

// TestDatesAnyOrder: the order in which an index gives what it has does not matter.
func TestDatesAnyOrder(t *testing.T) {
	rng := seeded(t)
	for range 200 {
		m := newMemory()
		for i := range 1 + rng.IntN(30) {
			n := graph.Node{ID: num(i), Summary: strings.Repeat("pier ", 1+rng.IntN(3)),
				Created: graph.Time(rng.Int64N(20) * 100 * dayLength)}
			m.add(n)
		}
		req := retrieve.Request{Text: []string{"pier in 1971", "1972", "pier since 1973"}[rng.IntN(3)]}
		want := fmt.Sprint(ids(m.ask(t, req)))
		m.shuffle = rng
		must.Equal(t, fmt.Sprint(ids(m.ask(t, req))), want)
	}
}

// TestDaysOfRequest: given days stand for those of UTC, are kept in the receipt, and must be as many as the text names.
func TestDaysOfRequest(t *testing.T) {
	m := newMemory()
	begin := onDay("2023-05-07") - dayLength/2
	const hour = dayLength / 24
	m.add(graph.Node{ID: num(1), Summary: "pier", Created: begin - hour})                // of that day in Berlin alone
	m.add(graph.Node{ID: num(2), Summary: "pier", Created: begin + dayLength - hour})    // of that day in UTC alone
	m.add(graph.Node{ID: num(3), Summary: "pier", Created: begin + 10*dayLength + hour}) // of neither
	berlin := []retrieve.DateRange{{From: graph.At(begin - 2*hour), To: graph.At(begin + dayLength - 2*hour)}}
	for _, c := range []struct {
		text  string
		days  []retrieve.DateRange
		first int
	}{
		{"pier on 7 May 2023", nil, 2},
		{"pier on 7 May 2023", berlin, 1},
		{"7 May 2023", nil, 2},
		{"7 May 2023", berlin, 1},
		{"pier since 7 May 2023", []retrieve.DateRange{{From: graph.At(begin + 9*dayLength)}}, 3},
		{"pier before 7 May 2023", []retrieve.DateRange{{To: graph.At(begin - 5*hour/2)}}, 1},
	} {
		a := m.ask(t, retrieve.Request{Text: c.text, Days: c.days})
		if got := ids(a)[0]; got != num(c.first) || len(c.days) > 0 && diff(c.days, a.Dates) != "" {
			t.Errorf("%q, %v: first %v, dates %v", c.text, c.days, got, a.Dates)
		}
		receipt, _ := a.Receipt()
		again := must.Get(receipt.Request(c.text))(t, c.text)
		must.Equal(t, diff(c.days, again.Days), "", c.text, ": ", again.Days)
		second, _ := m.ask(t, again).Receipt()
		d := retrieve.CompareReceipts(receipt, second)
		must.True(t, d == nil, "%q: %+v", c.text, d)
	}
	for text, days := range map[string][]retrieve.DateRange{
		"pier": berlin, "pier on 7 May 2023 and in 2022": berlin, "pier on 7 May 2023": append(berlin, berlin...),
		"in May 2023": {{}}, "in June 2023": {{From: graph.At(begin), To: graph.At(begin)}},
	} {
		_, err := (Runner{}).Run(t.Context(), m, m, testCommit, retrieve.Request{Text: text, Days: days})
		must.True(t, errors.Is(err, retrieve.ErrRequest), "%q, %v: %v", text, days, err)
	}
	off := retrieve.Request{Text: "pier", Days: berlin, Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneTime}}}
	a := m.ask(t, off)
	must.True(t, a.Request.Days == nil, "days without the lane: %v", a.Request.Days)
}

func TestCountsFromNow(t *testing.T) {
	for text, want := range map[string]bool{"": false, "in 2023": false, "in May": true, "昨天": true} {
		r := retrieve.Request{Text: text}
		must.Equal(t, CountsFromNow(r), want, text, ": ", !want)
		r.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneTime, Weight: 0}}
		must.True(t, !CountsFromNow(r), "%q: counts although switched off", text)
	}
}

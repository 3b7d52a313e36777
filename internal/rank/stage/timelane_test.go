package stage

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
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

// diary is one text on several days of 2023, numbered from 1.
func diary() *memory {
	m := newMemory()
	for i, d := range []string{"2023-04-29", "2023-05-07", "2023-05-09", "2023-08-01"} {
		m.add(graph.Node{ID: num(i + 1), Summary: "pier", Created: onDay(d)})
	}
	m.add(graph.Node{ID: num(9), Summary: "other", Created: onDay("2023-05-07")})
	return m
}

func numbers(list ...int) (out []graph.ID) {
	for _, n := range list {
		out = append(out, num(n))
	}
	return out
}

// TestDatesRaise: what the words found is ordered by nearness, and nothing joins.
func TestDatesRaise(t *testing.T) {
	m := diary()
	a := m.ask(t, retrieve.Request{Text: "pier on 7 May 2023"})
	if d := diff(numbers(2, 3, 1, 4), ids(a)); d != "" {
		t.Error(d)
	}
	if a.Candidates != 4 || len(a.Warnings) > 0 || a.Request.Now.Given {
		t.Errorf("%d candidates, warnings %v", a.Candidates, a.Warnings)
	}
	want := []retrieve.DateRange{{From: graph.At(onDay("2023-05-07") - dayLength/2),
		To: graph.At(onDay("2023-05-08") - dayLength/2)}}
	if d := diff(want, a.Dates); d != "" {
		t.Error(d)
	}
	if hit := a.Items[0].Lanes[2]; hit != (retrieve.LaneHit{Lane: retrieve.LaneTime, Rank: 1, Score: 1 << 16}) {
		t.Errorf("%+v", hit)
	}
	off := []retrieve.LaneWeight{{Lane: retrieve.LaneTime, Weight: 0}}
	plain := m.ask(t, retrieve.Request{Text: "pier on 7 May 2023", Weights: off})
	if d := diff(numbers(1, 2, 3, 4), ids(plain)); d != "" || plain.Dates != nil {
		t.Errorf("%v %s", plain.Dates, d)
	}
	for i, item := range a.Items { // half more at most, and no less than before
		at := slices.Index(ids(plain), item.ID)
		if was := plain.Items[at].Score; item.Score < was || item.Score > was*3/2 {
			t.Errorf("item %d: %d, was %d", i, item.Score, was)
		}
	}
	for _, fusion := range retrieve.Fusions() {
		got := m.ask(t, retrieve.Request{Text: "pier on 7 May 2023", Fusion: fusion})
		if ids(got)[0] != num(2) {
			t.Errorf("%s: %v", fusion, ids(got))
		}
	}
}

// TestDatesAlone: a question that is nothing but a date is answered by date.
func TestDatesAlone(t *testing.T) {
	m := diary()
	m.link(num(2), "e", num(4), 1<<16)
	a := m.ask(t, retrieve.Request{Text: "what happened on 7 May 2023?"})
	if got := ids(a); len(got) != 5 || !slices.Contains(numbers(2, 9), got[0]) ||
		!slices.Contains(numbers(2, 9), got[1]) || got[2] != num(3) {
		t.Errorf("%v", got)
	}
	for _, item := range a.Items {
		if item.Reach != nil {
			t.Error("expanded")
		}
	}
	a = m.ask(t, retrieve.Request{Text: "since 2023", Limit: new(3)})
	if d := diff(numbers(4, 3, 2), ids(a)); d != "" {
		t.Error("not the newest first: " + d)
	}
	m.mark(num(4), graph.Forgotten)
	a = m.ask(t, retrieve.Request{Text: "since 2023", Limit: new(2), Exclusions: retrieve.Exclusions{Exclude: numbers(3)}})
	if d := diff(numbers(2, 9), ids(a)); d != "" {
		t.Error("filters: " + d)
	}
	a = m.ask(t, retrieve.Request{Text: "pier in May 2023", Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 0}}, Limit: new(2)})
	if d := diff(numbers(3, 2), ids(a)); d != "" {
		t.Error("no other lane: " + d)
	}
}

func TestDatesWarnings(t *testing.T) {
	m := diary()
	for _, c := range []struct {
		text string
		req  retrieve.Request
		want []retrieve.Code
	}{
		{"pier last week, in May", retrieve.Request{}, []retrieve.Code{retrieve.NoNow}},
		{"last week", retrieve.Request{}, []retrieve.Code{retrieve.NoNow}},
		{"last week", retrieve.Request{Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneTime, Weight: 0}}}, nil},
		{"in 1950", retrieve.Request{}, []retrieve.Code{retrieve.NoneThen}},
		{"in May 2023", retrieve.Request{Types: []string{"Person"}}, []retrieve.Code{retrieve.NoneThen, retrieve.NoType}},
		{"pier in 1950", retrieve.Request{}, nil},
		{"last week", retrieve.Request{Now: graph.At(onDay("2023-05-15"))}, nil},
	} {
		c.req.Text = c.text
		got := slices.DeleteFunc(codes(m.ask(t, c.req)), func(c retrieve.Code) bool {
			return c == retrieve.NothingPasses || c == retrieve.NoTerms
		})
		if d := diff(c.want, got); d != "" && len(c.want)+len(got) > 0 {
			t.Errorf("%q: %s", c.text, d)
		}
	}
}

// TestNow: now matters to the day, and only if a date counts from it.
func TestNow(t *testing.T) {
	m := diary()
	at := func(day string) graph.OptTime { return graph.At(onDay(day)) }
	a := m.ask(t, retrieve.Request{Text: "pier yesterday", Now: at("2023-05-08")})
	if ids(a)[0] != num(2) || a.Request.Now != graph.At(onDay("2023-05-08")-dayLength/2) {
		t.Errorf("%v %+v", ids(a), a.Request.Now)
	}
	receipt, _ := a.Receipt()
	if _, ok := receipt.Params.Get("now"); !ok {
		t.Error("no now in the receipt")
	}
	again, err := receipt.Request("pier yesterday")
	if err != nil {
		t.Fatal(err)
	}
	second, _ := m.ask(t, again).Receipt()
	if d := retrieve.CompareReceipts(receipt, second); d != nil {
		t.Errorf("%+v", d)
	}
	for _, text := range []string{"pier", "pier in May 2023", ""} {
		with, without := m.ask(t, retrieve.Request{Text: text, Now: at("2023-05-08")}),
			m.ask(t, retrieve.Request{Text: text})
		x, _ := with.Receipt()
		y, _ := without.Receipt()
		if d := retrieve.CompareReceipts(x, y); d != nil || with.Request.Now.Given {
			t.Errorf("%q: %+v", text, d)
		}
	}
	for text, want := range map[string]bool{"": false, "in 2023": false, "in May": true, "昨天": true} {
		r := retrieve.Request{Text: text}
		if CountsFromNow(r) != want {
			t.Errorf("%q: %v", text, !want)
		}
		r.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneTime, Weight: 0}}
		if CountsFromNow(r) {
			t.Errorf("%q: counts although switched off", text)
		}
	}
	q, err := complete.ParseRequestJSON(parsed(t, `{"text":"a","now":"2023-05-08"}`), retrieve.Request{})
	if err != nil || q.Request.Now != graph.At(onDay("2023-05-08")-dayLength/2) {
		t.Errorf("%+v, %v", q.Request.Now, err)
	}
	if _, err := complete.ParseRequestJSON(parsed(t, `{"now":"today"}`), retrieve.Request{}); !errors.Is(err, retrieve.ErrRequest) {
		t.Error(err)
	}
	if err := (retrieve.Request{Now: graph.At(graph.MaxTime + 1)}).Validate(); !errors.Is(err, retrieve.ErrRequest) {
		t.Error(err)
	}
	if r := (retrieve.Request{Now: graph.At(graph.MinTime)}).Resolve(); r.Validate() != nil ||
		r.Now.Time != graph.MinTime {
		t.Errorf("%+v", r.Now)
	}
	record := func(now int64) error {
		params := append(keptParams(retrieve.Request{}).Entries(),
			ipld.Entry{Key: "now", Value: ipld.IntValue(now)})
		_, err := readParams(ipld.MapValue(params...), "")
		return err
	}
	if record(3*dayLength) != nil || record(3*dayLength+1) == nil {
		t.Error("a receipt's now is a day")
	}
}

// TestNearOracle compares nearness with exact arithmetic.
func TestNearOracle(t *testing.T) {
	rng := seeded(t)
	for range 20_000 {
		moment := func() int64 {
			n := int64(graph.MinTime) + rng.Int64N(int64(graph.MaxTime-graph.MinTime))
			if rng.IntN(2) == 0 { // near others
				n = rng.Int64N(3000) * dayLength / 24
			}
			return n
		}
		r := dates.Range{From: moment(), Scale: 1 + rng.Int64N(400*dayLength)}
		r.To = r.From + r.Scale
		switch rng.IntN(4) {
		case 0:
			r.From = dates.NoFrom
		case 1:
			r.To = dates.NoTo
		}
		n := source.Times{Created: graph.Time(moment())}
		if rng.IntN(3) == 0 {
			n.ValidFrom = graph.At(graph.Time(moment()))
		}
		if rng.IntN(3) == 0 {
			n.ValidTo = graph.At(graph.Time(moment()))
		}
		d := dated{Reading: dates.Reading{Ranges: []dates.Range{r}}}
		if got, want := d.near(n), oracleNear(r, n); got != want {
			t.Fatalf("%+v %+v: %d, want %d", r, n, got, want)
		}
	}
}

func oracleNear(r dates.Range, n source.Times) int64 {
	first, last := n.Created, n.Created
	if n.ValidFrom.Given {
		first, last = n.ValidFrom.Time, graph.MaxTime
	}
	if n.ValidTo.Given {
		last = max(first, n.ValidTo.Time-1)
	}
	d := new(big.Int)
	switch {
	case r.From != dates.NoFrom && int64(last) < r.From:
		d.Sub(big.NewInt(r.From), big.NewInt(int64(last)))
	case r.To != dates.NoTo && int64(first) >= r.To:
		d.Sub(big.NewInt(int64(first)), big.NewInt(r.To))
		d.Quo(d, big.NewInt(8))
	default:
		return 65_536
	}
	s := big.NewInt(r.Scale)
	q := new(big.Int).Mul(s, big.NewInt(65_536))
	return min(65_535, q.Quo(q, d.Add(d, s)).Int64())
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
		if got := fmt.Sprint(ids(m.ask(t, req))); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

func TestDatesErrors(t *testing.T) {
	for method, text := range map[string]string{"Times": "pier in 2023", "ByTime": "in 2023"} {
		m := diary()
		m.failOn = method
		if _, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: text}); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestDatesBound: scores stay below 2^53 whatever the weight.
func TestDatesBound(t *testing.T) {
	m := diary()
	m.scores = map[graph.ID]int64{num(2): graph.MaxCount}
	a := m.ask(t, retrieve.Request{Text: "pier in 2023", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneTime, Weight: retrieve.MaxWeight}}})
	if a.Items[0].Score != graph.MaxCount {
		t.Error(a.Items[0].Score)
	}
	a = m.ask(t, retrieve.Request{Text: "pier before 1000-01-01 or after 9999-12-31"})
	_, _ = a.Receipt()
	if len(a.Dates) != 2 || a.Dates[1].From.Time != graph.MaxTime || a.Dates[1].To.Given {
		t.Errorf("%+v", a.Dates)
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
		again, err := receipt.Request(c.text)
		if err != nil || diff(c.days, again.Days) != "" {
			t.Fatalf("%q: %v, %v", c.text, again.Days, err)
		}
		second, _ := m.ask(t, again).Receipt()
		if d := retrieve.CompareReceipts(receipt, second); d != nil {
			t.Errorf("%q: %+v", c.text, d)
		}
	}
	for text, days := range map[string][]retrieve.DateRange{
		"pier": berlin, "pier on 7 May 2023 and in 2022": berlin, "pier on 7 May 2023": append(berlin, berlin...),
		"in May 2023": {{}}, "in June 2023": {{From: graph.At(begin), To: graph.At(begin)}},
	} {
		if _, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: text, Days: days}); !errors.Is(err, retrieve.ErrRequest) {
			t.Errorf("%q, %v: %v", text, days, err)
		}
	}
	off := retrieve.Request{Text: "pier", Days: berlin, Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneTime}}}
	if a := m.ask(t, off); a.Request.Days != nil {
		t.Errorf("days without the lane: %v", a.Request.Days)
	}
	for line, days := range map[string][]retrieve.DateRange{
		`{"text":"7 May 2023","days":[{"from":"2023-05-06T22:00:00Z","to":"2023-05-07T22:00:00Z"}]}`: berlin,
		`{"text":"x","days":[{"from":"2023-05-06T22:00:00Z","to":null}]}`:                            {{From: berlin[0].From}},
	} {
		q, err := complete.ParseRequestJSON(parsed(t, line), retrieve.Request{})
		if err != nil || diff(days, q.Request.Days) != "" {
			t.Errorf("%s: %v, %v", line, q.Request.Days, err)
		}
	}
	for _, line := range []string{`{"days":"2023"}`, `{"days":[{"from":3}]}`, `{"days":[{"at":"2023-05-06"}]}`, `{"days":[7]}`} {
		if _, err := complete.ParseRequestJSON(parsed(t, line), retrieve.Request{}); !errors.Is(err, retrieve.ErrRequest) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

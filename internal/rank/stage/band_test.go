package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// evenMemory is a memory whose words weigh what a test says, in questions, and the same everywhere else.
type evenMemory struct {
	*memory
	weights map[string]int64
}

func (m evenMemory) TermWeights(_ context.Context, q source.TextQuery) (out []source.TermWeight, err error) {
	for _, term := range queryTerms(read(q)) {
		out = append(out, source.TermWeight{Term: term, Weight: m.weights[term]})
	}
	return out, m.fail("TermWeights")
}

func (m evenMemory) IDFs(_ context.Context, terms []string) ([]int64, error) {
	out := make([]int64, len(terms))
	for i := range out {
		out[i] = 1 << 16
	}
	return out, m.fail("IDFs")
}

// says makes a memory of nodes with summaries, of which the words of a question have shares in units of
// 2^-16; what is missing to one is the share of the word "filler".
func says(shares map[string]int64, summaries ...string) evenMemory {
	m := evenMemory{newMemory(), shares}
	left := int64(1 << 16)
	for _, n := range shares {
		left -= n
	}
	shares["filler"] = left
	for i, s := range summaries {
		m.add(graph.Node{ID: num(i), Summary: s, Created: 1})
	}
	return m
}

// bandsOf returns the number and band of each item of an answer, in its order.
func (m evenMemory) bandsOf(t *testing.T, req retrieve.Request) string {
	t.Helper()
	if req.Limit == nil {
		req.Limit = new(0)
	}
	req.Expand, req.Budget = new(0), new(0)
	a, err := Run(t.Context(), m, m, testCommit, req)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, n := range order(a) {
		out = append(out, fmt.Sprint(n, " ", a.Items[i].Band))
	}
	return strings.Join(out, ", ")
}

// two has the constants of bands.
var two = rankingOf(retrieve.RankingVersion)

const threeMaybes = "0 maybe, 1 maybe, 2 rest"

// TestBandsOfOneWording has each threshold of a question in one wording from both sides.
func TestBandsOfOneWording(t *testing.T) {
	for _, c := range []struct {
		known int64
		want  string
	}{
		{two.sure, "0 answer, 1 answer, 2 answer"}, {two.sure - 1, threeMaybes}, {1, threeMaybes},
	} {
		m := says(map[string]int64{"part": c.known}, "part x", "part y", "part z")
		if got := m.bandsOf(t, retrieve.Request{Text: "part filler", Floor: retrieve.FloorRest}); got != c.want {
			t.Errorf("known %d: %s, want %s", c.known, got, c.want)
		}
	}
	for _, c := range []struct{ best, each int64 }{{20_000, two.each}, {40_000, 10_000}} { // a quarter of 40,000
		for each, want := range map[int64]string{
			c.each: "1 answer", c.each - 1: "1 maybe", 3 * c.each / 4: "1 maybe", 3*c.each/4 - 1: "1 rest",
		} {
			m := says(map[string]int64{"main": c.best, "each": each}, "main main x", "each y")
			got := m.bandsOf(t, retrieve.Request{Text: "main each filler", Floor: retrieve.FloorRest})
			if got != "0 answer, "+want {
				t.Errorf("known %d beside an answer that knows %d: %s, want %s", each, c.best, got, want)
			}
		}
	}
}

// TestBandsAhead has a best candidate that is ahead of the next one by a fifth: half of that makes up for
// what is not known.
func TestBandsAhead(t *testing.T) {
	for _, c := range []struct {
		known, next int64
		want        string
	}{
		{two.each, 80, "0 answer, 1 answer, 2 answer"}, {two.each - 1, 80, threeMaybes}, {two.each, 81, threeMaybes},
	} {
		m := says(map[string]int64{"part": c.known}, "part x", "part y", "part z")
		m.scores = map[graph.ID]int64{num(0): 100, num(1): c.next, num(2): 1}
		if got := m.bandsOf(t, retrieve.Request{Text: "part filler", Floor: retrieve.FloorRest}); got != c.want {
			t.Errorf("known %d, next %d: %s, want %s", c.known, c.next, got, c.want)
		}
	}
}

// TestBandsOfManyWordings asks in two wordings, which ask for more.
func TestBandsOfManyWordings(t *testing.T) {
	req := retrieve.Request{Text: "main each filler", Rewrites: []string{"each main filler"}, Floor: retrieve.FloorRest}
	for known, want := range map[int64]string{
		two.sureMany: "0 answer, 1 answer, 2 answer", two.sureMany - 1: threeMaybes,
	} {
		m := says(map[string]int64{"main": known}, "main x", "main y", "main z")
		if got := m.bandsOf(t, retrieve.Request{Text: "main filler", Rewrites: []string{"filler main"},
			Floor: retrieve.FloorRest}); got != want {
			t.Errorf("known %d: %s, want %s", known, got, want)
		}
	}
	for each, want := range map[int64]string{
		two.eachMany: "1 answer", two.eachMany - 1: "1 maybe", 3 * two.eachMany / 4: "1 maybe", 3*two.eachMany/4 - 1: "1 rest",
	} {
		m := says(map[string]int64{"main": 30_000, "each": each}, "main main each x", "each y")
		if got := m.bandsOf(t, req); got != "0 answer, "+want {
			t.Errorf("known %d beside an answer: %s, want %s", each, got, want)
		}
	}
	// Of two signs the better one counts three fifths: here a wording of which nothing is known.
	one := retrieve.Request{Text: "main", Rewrites: []string{"other"}, Floor: retrieve.FloorRest}
	m := says(map[string]int64{"main": 1 << 15, "other": 1 << 15}, "main x", "main y", "main z")
	if got := m.bandsOf(t, one); got != threeMaybes {
		t.Errorf("of one of two wordings: %s", got)
	}
}

// TestBandsOfVectors has cosines about the threshold of an answer.
func TestBandsOfVectors(t *testing.T) {
	req := retrieve.Request{Vectors: vectorOf("m", 127, 127, 127, 1), Floor: retrieve.FloorRest}
	ask := func(req retrieve.Request, vectors ...[]int8) string {
		m := says(map[string]int64{}, "x filler", "y filler", "z filler")
		for i, v := range vectors {
			m.embed(num(i), "m", v...)
		}
		return m.bandsOf(t, req)
	}
	sure, below := []int8{127, 43, 0, 37}, []int8{127, 43, 0, 36} // 21,627 of 16,384 to 42,598 is a fifth
	if got := ask(req, sure, sure, sure); got != "0 answer, 1 answer, 2 answer" {
		t.Error(got)
	}
	if got := ask(req, below, below, below); got != threeMaybes {
		t.Error(got)
	}
	each, almost := []int8{127, 22, 0, 83}, []int8{127, 22, 0, 82} // 19,006 is a tenth
	if got := ask(req, sure, each, almost); got != "0 answer, 1 answer, 2 maybe" {
		t.Error(got)
	}
	if got := ask(req, sure, []int8{127, 2, 0, 0}); got != "0 answer, 1 rest" { // 16,383 is nothing
		t.Error(got)
	}
}

// TestBandsApart has cosines that are far above those of the crowd, and by themselves nothing.
func TestBandsApart(t *testing.T) {
	ask := func(req retrieve.Request, n int, first int8) string {
		m := says(map[string]int64{}, slices.Repeat([]string{"x filler"}, n)...)
		for i := range n {
			m.embed(num(i), "m", 1)
		}
		for i := range 2 { // or the best would be ahead
			m.embed(num(i), "m", first)
		}
		req.Vectors, req.Floor, req.Limit = vectorOf("m", 127), retrieve.FloorRest, new(1)
		return m.bandsOf(t, req)
	}
	// 9,437 more than the crowd has, of 5,243 to 26,214, are a fifth: enough to be sure.
	sure, below := int8(1+75), int8(1+74)
	for _, n := range []int{3, 20, 40} {
		if got := ask(retrieve.Request{}, n, sure); got != "0 answer" {
			t.Errorf("%d: %s", n, got)
		}
		if got := ask(retrieve.Request{}, n, below); got != "0 maybe" {
			t.Errorf("%d, not far enough: %s", n, got)
		}
	}
	if got := ask(retrieve.Request{}, 2, sure); got != "0 maybe" {
		t.Error("without a crowd:", got)
	}
	if got := ask(retrieve.Request{Text: "y", Rewrites: []string{"y"}}, 20, sure); got != "0 maybe" {
		t.Error("beside another wording:", got)
	}
}

// TestBandsOfAll has requests whose candidates are all answers.
func TestBandsOfAll(t *testing.T) {
	m := says(map[string]int64{"part": 1}, "part x", "part y", "part z")
	if got := m.bandsOf(t, retrieve.Request{Floor: retrieve.FloorAnswer}); got != "0 answer, 1 answer, 2 answer" {
		t.Errorf("blank: %s", got)
	}
	s := sparseShelf()
	a, err := Run(t.Context(), s, s, testCommit, retrieve.Request{Floor: retrieve.FloorAnswer, Expand: new(0),
		Sparse: sparseOf("s", graph.Term{Term: "y", Weight: 2})})
	if err != nil || len(a.Items) == 0 || a.Items[len(a.Items)-1].Band != retrieve.BandAnswer {
		t.Errorf("sparse: %+v, %v", a, err)
	}
	d := newMemory()
	d.add(graph.Node{ID: num(0), Summary: "part", Created: 1_700_000_000_000_000})
	a, err = Run(t.Context(), d, d, testCommit, retrieve.Request{Text: "what happened in November 2023", Floor: retrieve.FloorAnswer})
	if err != nil || len(a.Items) != 1 || a.Items[0].Band != retrieve.BandAnswer {
		t.Errorf("by a date alone: %+v, %v", a, err)
	}
	if got := m.bandsOf(t, retrieve.Request{Text: "part", Ranking: retrieve.PlainRanking}); got != "0 , 1 , 2 " {
		t.Errorf("plain: %s", got)
	}
}

// TestFloors prints what the floor lets in, answers first.
func TestFloors(t *testing.T) {
	answered := func() evenMemory { // the best is none, since its words tell little
		m := says(map[string]int64{"main": 50_000, "each": 12_000},
			"each a", "main b", "each c", "main d", "each e", "other f filler")
		m.weights["filler"] = 10
		m.scores = map[graph.ID]int64{num(0): 100, num(1): 99, num(2): 98, num(3): 97, num(4): 96, num(5): 1}
		return m
	}
	open := says(map[string]int64{"part": 1}, "part x", "part y", "part z")
	for _, c := range []struct {
		m     evenMemory
		text  string
		floor retrieve.Floor
		limit int
		want  string
	}{
		{answered(), "main each filler", retrieve.FloorAnswer, 0, "1 answer, 3 answer"},
		{answered(), "main each filler", retrieve.FloorMaybe, 0, "1 answer, 3 answer, 0 maybe, 2 maybe"},
		{answered(), "main each filler", "", 0, "1 answer, 3 answer, 0 maybe, 2 maybe"},
		{answered(), "main each filler", "", 3, "1 answer, 3 answer, 0 maybe"},
		{answered(), "main each filler", retrieve.FloorRest, 0,
			"0 maybe, 1 answer, 2 maybe, 3 answer, 4 maybe, 5 rest"},
		{open, "part filler", retrieve.FloorAnswer, 0, ""},
		{open, "part filler", retrieve.FloorMaybe, 0, "0 maybe, 1 maybe"},
		{open, "part filler", retrieve.FloorRest, 0, threeMaybes},
	} {
		if got := c.m.bandsOf(t, retrieve.Request{Text: c.text, Floor: c.floor, Limit: new(c.limit)}); got != c.want {
			t.Errorf("%s, floor %q: %s, want %s", c.text, c.floor, got, c.want)
		}
	}
}

// TestFloorLeavesOut counts what the floor leaves out as candidates, and not as dropped.
func TestFloorLeavesOut(t *testing.T) {
	m := says(map[string]int64{"part": 1}, "part x", "part y", "part z")
	a, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "part filler", Expand: new(0)})
	if err != nil || a.Candidates != 3 || len(a.Items) != 2 || a.Dropped != 0 {
		t.Errorf("%d candidates, %d items, %d dropped, %v", a.Candidates, len(a.Items), a.Dropped, err)
	}
	r, text := a.Receipt()
	req, err := r.Request(string(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(t.Context(), m, m, testCommit, req)
	if d := diff(a, again); d != "" || err != nil {
		t.Errorf("replayed: %s, %v", d, err)
	}
}

// TestBandsNamed: what the text names is an answer, whatever is known.
func TestBandsNamed(t *testing.T) {
	m := says(map[string]int64{"part": 1}, "part x", "part y")
	m.add(graph.Node{Key: "boat", Summary: "none", Created: 1})
	for text, tier := range map[string]int{"boat": tierWhole, "part filler of `boat`": tierQuoted} {
		a, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: text, Floor: retrieve.FloorAnswer, Expand: new(0)})
		if err != nil || len(a.Items) != 1 || a.Items[0].Key != "boat" || a.Items[0].Tier != tier {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
}

// TestBanded gives bands to the first fifty that are no names, wherever names are among them.
func TestBanded(t *testing.T) {
	for _, names := range []int{0, 1, 49, 50, 51, 120} {
		m := says(map[string]int64{"part": 1 << 16})
		for i := range names {
			m.add(graph.Node{Key: fmt.Sprint("entity/", i), Type: "Entity", Summary: "part part name", Created: 1})
		}
		for i := range maxBanded + 5 {
			m.add(graph.Node{ID: num(i), Summary: "part x", Created: 1})
		}
		a, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "part", Limit: new(0), Budget: new(0), Expand: new(0),
			Floor: retrieve.FloorRest})
		if err != nil || len(a.Items) != maxBanded+5 {
			t.Fatalf("%d names: %d items, %v", names, len(a.Items), err)
		}
		for i, it := range a.Items {
			if want := map[bool]retrieve.Band{true: retrieve.BandAnswer, false: retrieve.BandRest}[i < maxBanded]; it.Band != want {
				t.Fatalf("%d names: item %d is of the %s, want %s", names, i, it.Band, want)
			}
		}
	}
}

// TestNamesAreNoItems leaves out names, unless the request names one, asks for their type, or one says more.
func TestNamesAreNoItems(t *testing.T) {
	m := says(map[string]int64{"part": 1 << 16})
	m.add(graph.Node{Key: "entity/part", Type: "Entity", Summary: "part name", Created: 1})
	m.add(graph.Node{Key: "entity/more", Type: "Entity", Summary: "part more", Context: "said", Created: 1})
	for want, req := range map[string]retrieve.Request{
		"entity/more":             {Text: "part"},
		"entity/part":             {Text: "entity/part", Exclude: []graph.ID{graph.NodeID("entity/more")}},
		"entity/more entity/part": {Text: "part", Types: []string{"Entity"}},
	} {
		req.Expand = new(0)
		a := m.ask(t, req)
		var keys []string
		for _, it := range a.Items {
			keys = append(keys, it.Key)
		}
		slices.Sort(keys)
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q of %v: %s, want %s", req.Text, req.Types, got, want)
		}
	}
}

// TestBandsOfPairs: what contradicts an item is shown with it and has its band.
func TestBandsOfPairs(t *testing.T) {
	for _, c := range []struct {
		known int64
		want  string
	}{
		{1 << 16, "0 answer, 2 answer, 1 answer"}, {1, "0 maybe, 2 maybe, 1 maybe"},
	} {
		m := says(map[string]int64{"part": c.known}, "part x", "part y", "none")
		m.markBy(num(0), graph.Contradicted, num(2))
		if got := m.bandsOf(t, retrieve.Request{Text: "part filler"}); got != c.want {
			t.Errorf("known %d: %s, want %s", c.known, got, c.want)
		}
	}
}

// TestBandErrors passes on what fails.
func TestBandErrors(t *testing.T) {
	for _, method := range []string{"Types", "TermWeights", "TermScores"} {
		m := says(map[string]int64{"part": 1}, "part x")
		m.failOn = method
		if _, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "part", Expand: new(0)}); err == nil {
			t.Errorf("%s fails, and no error", method)
		}
	}
}

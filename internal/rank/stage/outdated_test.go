package stage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// toldAt makes a memory of what was said one after the other, of which "dock" tells all that is asked.
func toldAt(summaries ...string) evenMemory {
	m := says(map[string]int64{"dock": 1 << 16}, summaries...)
	for i := range summaries {
		m.nodes[num(i)].Created = graph.Time(i + 1)
	}
	return m
}

// outdated returns the number of each item, with that of what takes its place.
func (m evenMemory) outdated(t *testing.T, req retrieve.Request) string {
	t.Helper()
	req.Expand, req.Budget = new(0), new(0)
	a, err := Run(t.Context(), m, m, testCommit, req)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	numbers := order(a)
	for i, it := range a.Items {
		s := fmt.Sprint(numbers[i])
		for n := range len(m.nodes) {
			if it.Outdated == num(n) {
				s += fmt.Sprint("<", n)
			}
		}
		if strings.Contains(it.Rendered, "outdated by") == it.Outdated.IsZero() {
			t.Errorf("outdated by %s: %q", it.Outdated, it.Rendered)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// TestOutdated puts what takes the place of something right before it.
func TestOutdated(t *testing.T) {
	for name, c := range map[string]struct {
		said []string
		req  retrieve.Request
		want string
	}{
		"newer first":       {[]string{"boat dock north dock", "boat dock south now"}, retrieve.Request{}, "1 0<1"},
		"newest of many":    {[]string{"boat dock north", "boat dock south now", "boat dock east now"}, retrieve.Request{}, "2 0<2 1<2"},
		"no change":         {[]string{"boat dock north", "boat dock south"}, retrieve.Request{}, "0 1"},
		"the older tells":   {[]string{"boat dock north now", "boat dock south"}, retrieve.Request{}, "0 1"},
		"within a word":     {[]string{"boat dock north", "boat dock snowy"}, retrieve.Request{}, "0 1"},
		"upper case":        {[]string{"boat dock north", "boat dock south NOW!"}, retrieve.Request{}, "1 0<1"},
		"German":            {[]string{"boat dock Nord", "boat dock Ost, ab März"}, retrieve.Request{}, "1 0<1"},
		"German umlaut":     {[]string{"boat dock Nord", "boat dock KÜNFTIG Ost"}, retrieve.Request{}, "1 0<1"},
		"German part":       {[]string{"boat dock Nord", "boat dock Abfahrt Neubau"}, retrieve.Request{}, "0 1"},
		"one shared word":   {[]string{"boat dock", "dock now"}, retrieve.Request{}, "0 1"},
		"rest":              {[]string{"boat dock north", "boat dock south now"}, retrieve.Request{Floor: retrieve.FloorRest}, "0 1"},
		"plain":             {[]string{"boat dock north", "boat dock south now"}, retrieve.Request{Ranking: retrieve.PlainRanking}, "0 1"},
		"blank":             {[]string{"boat dock north", "boat dock south now"}, retrieve.Request{Text: " "}, "1 0"},
		"answers only":      {[]string{"boat dock north", "boat dock south now"}, retrieve.Request{Floor: retrieve.FloorAnswer}, "1 0<1"},
		"something between": {[]string{"boat dock north", "dock tea cup", "boat dock south now"}, retrieve.Request{}, "2 0<2 1"},
		// Of the lighter one's eight words a quarter is shared, and of nine less: no sign.
		"a quarter": {[]string{"boat dock aa bb cc dd ee ff", "boat dock moved gg hh ii jj kk ll mm"}, retrieve.Request{}, "1 0<1"},
		"less":      {[]string{"boat dock aa bb cc dd ee ff nn", "boat dock moved gg hh ii jj kk ll mm"}, retrieve.Request{}, "1 0"},
		"a fifth":   {[]string{"boat dock aa bb cc dd ee ff nn oo", "boat dock moved gg hh ii jj kk ll mm pp"}, retrieve.Request{}, "1 0"},
		"less yet":  {[]string{"boat dock aa bb cc dd ee ff nn oo qq", "boat dock moved gg hh ii jj kk ll mm pp"}, retrieve.Request{}, "0 1"},
		// What is not settled may be replaced by what tells of no change, and replaces nothing by that.
		"open":             {[]string{"boat dock perhaps north", "boat dock south"}, retrieve.Request{}, "1 0"},
		"open is newer":    {[]string{"boat dock north", "boat dock perhaps south"}, retrieve.Request{}, "0 1"},
		"open and settled": {[]string{"boat dock perhaps north", "boat dock now south"}, retrieve.Request{}, "1 0<1"},
		"shares the most":  {[]string{"boat dock north", "boat dock north raised", "boat dock south raised"}, retrieve.Request{}, "2 1 0"},
		"even, the newer":  {[]string{"boat dock north", "boat dock east raised", "boat dock west raised"}, retrieve.Request{}, "2 0 1"},
		// Terms that are alike in form count where one may take the place of another, and for no sign.
		"alike":      {[]string{"boathouses dock", "dock of the boathous, as of May"}, retrieve.Request{}, "1 0"},
		"alike now":  {[]string{"boathouses dock", "dock of the bigboathou now"}, retrieve.Request{}, "1 0"},
		"five alike": {[]string{"zebrastripes dock", "dock abrasu, as of May"}, retrieve.Request{}, "0 1"},
	} {
		if c.req.Text == "" {
			c.req.Text = "dock"
		}
		if got := toldAt(c.said...).outdated(t, c.req); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestRuns: what terms alike in form share is six code points of any script without a digit.
func TestRuns(t *testing.T) {
	for term, want := range map[string]string{
		"": "", "short": "", "sixers": "sixers", "sevenup": "sevenu evenup", "ab1cdefg": "", "ab1cdefgh": "cdefgh",
		"größeres": "größer rößere ößeres", "abcdef7ghijkl": "abcdef ghijkl", "1234567": "",
	} {
		if got := strings.Join(slices.Collect(runsOf(term)), " "); got != want {
			t.Errorf("%q: %q, want %q", term, got, want)
		}
	}
	for range runsOf("sevenup") {
		break
	}
}

// TestOutdatedSameTime: of what was created at the same time nothing is outdated.
func TestOutdatedSameTime(t *testing.T) {
	m := toldAt("boat dock north", "boat dock south now")
	m.nodes[num(0)].Created = m.nodes[num(1)].Created
	if got := m.outdated(t, retrieve.Request{Text: "dock"}); got != "0 1" {
		t.Error(got)
	}
	// Of two that are newest at the same time the first one takes the place.
	m = toldAt("boat dock north", "boat dock south now", "boat dock east now")
	m.nodes[num(1)].Created = m.nodes[num(2)].Created
	if got := m.outdated(t, retrieve.Request{Text: "dock"}); got != "1 0<1 2" {
		t.Error(got)
	}
}

// TestTwins puts what says nearly the same some time later before it, without a sign, where the question does not tell
// which of both is meant.
func TestTwins(t *testing.T) {
	for name, c := range map[string]struct {
		older, newer string
		later        graph.Time
		asked        string
		want         string
	}{
		"a day later":         {"boat dock north", "boat dock south", twinApart, "dock", "1 0"},
		"within a day":        {"boat dock north", "boat dock south", twinApart - 1, "dock", "0 1"},
		"asked for the older": {"boat dock north", "boat dock south", twinApart, "dock north", "0 1"},
		"asked for the newer": {"boat dock north", "boat dock south", twinApart, "dock south", "1 0"},
		"half is shared":      {"boat dock north rain", "boat dock south wind", twinApart, "dock", "1 0"},
		"less is":             {"boat dock north rain ice", "boat dock south wind fog", twinApart, "dock", "0 1"},
		"one term is":         {"dock north", "dock south", twinApart, "dock", "0 1"},
		"akin ones are not":   {"dock northern", "dock northerly", twinApart, "dock", "0 1"},
		"with a word":         {"boat dock north", "boat dock south now", twinApart, "dock", "1 0<1"},
		"nothing is asked":    {"boat dock north", "boat dock south", twinApart, "", "1 0"}, // the newest first
	} {
		m := says(map[string]int64{"dock": 40_000, "north": 8_000, "south": 8_000}, c.older, c.newer)
		m.scores = map[graph.ID]int64{num(0): 20, num(1): 19}
		m.nodes[num(1)].Created = 1 + c.later
		if got := m.outdated(t, retrieve.Request{Text: c.asked}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	// By a vector alone the question has no terms to tell them apart by.
	m := says(map[string]int64{}, "boat dock north", "boat dock south")
	m.nodes[num(1)].Created = 1 + twinApart
	m.embed(num(0), "m", 127, 127)
	m.embed(num(1), "m", 127, 126)
	if got := m.outdated(t, retrieve.Request{Vectors: vectorOf("m", 127, 127)}); got != "0 1" {
		t.Error(got)
	}
	// Of several the one that shares the most is put there, of these the first of the newest.
	m = says(map[string]int64{"dock": 40_000}, "boat dock north", "boat dock north calm", "boat dock south", "boat dock east")
	m.scores = map[graph.ID]int64{num(0): 4, num(1): 3, num(2): 2, num(3): 1}
	for i, day := range []graph.Time{0, 1, 2, 2} {
		m.nodes[num(i)].Created = 1 + day*twinApart
	}
	if got := m.outdated(t, retrieve.Request{Text: "dock"}); got != "2 1 0 3" {
		t.Error(got)
	}
}

// TestOutdatedByAnswers: only an answer takes the place of another item.
func TestOutdatedByAnswers(t *testing.T) {
	m := says(map[string]int64{"dock": 20_000, "boat": 5_000}, "boat dock north", "boat pier north now")
	m.nodes[num(1)].Created = 2
	if got := m.outdated(t, retrieve.Request{Text: "dock boat filler"}); got != "0 1" {
		t.Error(got)
	}
}

// TestOutdatedAmongFirst compares the first twenty alone.
func TestOutdatedAmongFirst(t *testing.T) {
	for n, marked := range map[int]bool{maxCompares: true, maxCompares + 1: false} {
		m := toldAt("boat dock north")
		for i := 1; i < n-1; i++ {
			m.add(graph.Node{ID: num(i), Summary: fmt.Sprintf("dock q%dq", i), Created: 1})
		}
		m.add(graph.Node{ID: num(n - 1), Summary: "boat dock south now", Created: 2})
		got := m.outdated(t, retrieve.Request{Text: "dock", Limit: new(0)})
		if strings.Contains(got, "<") != marked {
			t.Errorf("of %d: %s", n, got)
		}
	}
}

// TestOutdatedErrors passes on what fails.
func TestOutdatedErrors(t *testing.T) {
	m := toldAt("boat dock north", "boat dock south now")
	m.failOn = "IDFs"
	if _, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "dock", Expand: new(0)}); err == nil {
		t.Error("no error")
	}
}

// TestChangeWordsAreFolded: which words tell of a change, no table of the language decides but those of the
// analyser.
func TestChangeWordsAreFolded(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "Now.": true, "It is NOW so": true, "snow": false, "now2": true, "de\u0301place\u0301": true,
		"déplacé": true, "n\u00adow": true, "K\u00dcNFTIG": true, "knowing": false, "今": false,
	} {
		if got := changeWord(s) != ""; got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}

// TestMayChange: words and phrases by which a newer memory is put before an older one, without a sign.
func TestMayChange(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "as of today": true, "As\u00ad OF May": true, "as off": false, "of as": false, "as of": true,
		"from on": true, "from this week on": true, "from 13 April on": true, "from a b c on": true,
		"from a b c d on": false, "from a from b c d on": true, "on from": false, "Renamed": true, "verla\u0308ngert": true,
		"prerenamed": false, "the fee was raised.": true, "now": false,
	} {
		if got := mayChange(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}

package evaluate

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
)

// TestRouge compares figures with those that were worked out by hand.
func TestRouge(t *testing.T) {
	for _, tt := range []struct{ reference, candidate, one, l string }{
		{"the cat sat on the mat", "the cat sat on the mat", "1", "1"},
		// the ×2, cat, mat; in order the cat … the mat, of 6 words
		{"the cat sat on the mat", "The cat: the mat!", "2/3", "2/3"},
		// all four words are there, of which only two follow each other as in the reference
		{"police killed the gunman", "the gunman killed police", "1", "1/2"},
		{"police killed the gunman", "police kill the gunman", "3/4", "3/4"},
		// a word counts as often as both have it
		{"no no no yes", "no", "1/4", "1/4"},
		{"no", "no no no", "1", "1"},
		// digits are words, and an apostrophe divides
		{"it's 12,500 euros", "12 euros", "2/5", "2/5"},
		{"a b c d", "", "0", "0"},
		{"a b c d", "w x y z", "0", "0"},
		// of a x b y c the longest common sequence is a b c
		{"a b c", "a x b y c", "1", "1"},
		{"a b c d e f", "f e d c b a", "1", "1/6"},
	} {
		got := ScoreRouge(tt.reference, tt.candidate)
		if got.One.RatString() != tt.one || got.L.RatString() != tt.l {
			t.Errorf("%q, %q: %s and %s, want %s and %s", tt.reference, tt.candidate, got.One.RatString(),
				got.L.RatString(), tt.one, tt.l)
		}
	}
	if got := ScoreRouge("…", "a"); got.One != nil || got.L != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// TestBootstrap: the mean is exact, and the interval is about it.
func TestBootstrap(t *testing.T) {
	if Bootstrap(nil) != nil {
		t.Error("of nothing")
	}
	third := big.NewRat(1, 3)
	same := Bootstrap([]*big.Rat{third, third, third})
	if same.Mean.Cmp(third) != 0 || same.From.Cmp(same.To) != 0 || same.From.FloatString(6) != "0.333333" {
		t.Errorf("equal differences: %s, %s to %s", same.Mean, same.From, same.To)
	}
	var list []*big.Rat // 0 and 1 by turns: the deviation of a mean of 100 is .05, two of them .1
	for i := range int64(100) {
		list = append(list, big.NewRat(i%2, 1))
	}
	wide := Bootstrap(list)
	if wide.Mean.RatString() != "1/2" || wide.From.FloatString(2) != "0.40" || wide.To.FloatString(2) != "0.60" {
		t.Errorf("%s, %s to %s", wide.Mean.RatString(), wide.From.FloatString(3), wide.To.FloatString(3))
	}
	if again := Bootstrap(list); again.From.Cmp(wide.From) != 0 || again.To.Cmp(wide.To) != 0 {
		t.Error("another interval in another run")
	}
	// known numbers of SplitMix64 with the seed 1234567
	state, x := splitMix(1234567)
	_, y := splitMix(state)
	if x != 6457827717110365317 || y != 3203168211198807973 {
		t.Errorf("%d, %d", x, y)
	}
}

// TestBaselines: what each takes first of some sentences.
func TestBaselines(t *testing.T) {
	var list []distill.Sentence
	for i, s := range []string{
		"Weather was mild.", "The kiln heats slowly.", "A kiln and a glaze need heats of many hours.",
		"Each glaze wants a kiln of its own.", "Goodbye.",
	} {
		list = append(list, distill.Sentence{Fact: graph.NodeID("x"), Place: i, Text: s})
	}
	terms := [][]string{{"weather", "mild"}, {"kiln", "heat", "slow"}, {"kiln", "glaze", "need", "heat", "hour"},
		{"glaze", "want", "kiln"}, {"goodby"}}
	want := map[string]int{"lead": 0, "textrank": 2, "lexrank": 2}
	for _, b := range baselines {
		order := b.order(list, terms)
		if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, []int{0, 1, 2, 3, 4}) {
			t.Errorf("%s: order %v", b.name, order)
		}
		if first, ok := want[b.name]; ok && order[0] != first {
			t.Errorf("%s begins with %d, want %d", b.name, order[0], first)
		}
	}
	// what does not fit is passed over, equal sentences come once, and the order is that of the text
	list = append(list, list[4])
	got := fitSentences(list, []int{5, 4, 2, 0}, 8)
	if len(got) != 2 || got[0].Text != "Weather was mild." || got[1].Text != "Goodbye." {
		t.Errorf("fits: %+v", got)
	}
}

const threeLines = `{"node":{"key":"a/S1","type":"Session","summary":"A day in May.","created":"2025-05-01T00:00:00Z"}}
{"node":{"key":"a/S1:1","type":"Turn","summary":"The boat has a new mast.","created":"2025-05-01T00:01:00Z"}}
{"edge":{"type":"in","src":"a/S1:1","dst":"a/S1"}}
`

// TestDigestFiles refuses what is no set of summaries.
func TestDigestFiles(t *testing.T) {
	for name, tt := range map[string]struct{ changes, summaries, want string }{
		"nothing":        {"", "", "no file"},
		"empty":          {threeLines, "\n", "no summaries"},
		"no changes":     {"", `{"session":"a/S1","summary":"x"}`, "a.changes.jsonl"},
		"no object":      {threeLines, "7", "want an object"},
		"unknown member": {threeLines, `{"session":"a/S1","summary":"x","by":"me"}`, "unknown member"},
		"blank":          {threeLines, `{"session":"a/S1","summary":" "}`, "not blank"},
		"missing":        {threeLines, `{"session":"a/S1"}`, "summary: missing"},
		"twice":          {threeLines, strings.Repeat(`{"session":"a/S1","summary":"x"}`+"\n", 2), "is on line 1"},
		"no session":     {threeLines, `{"session":"a/S9","summary":"x"}`, "a.summaries.jsonl:1: session: nothing is in"},
		"no word":        {threeLines, `{"session":"a/S1","summary":"霧山"}`, "no word"},
	} {
		dir := fstest.MapFS{}
		for end, text := range map[string]string{changesEnd: tt.changes, summariesEnd: tt.summaries} {
			if text != "" {
				dir["a"+end] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		if _, err := Digests(t.Context(), dir, DigestOptions{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	dir := fstest.MapFS{"a.changes.jsonl": {Data: []byte(threeLines)},
		"a.summaries.jsonl": {Data: []byte(`{"session":"a/S1","summary":"A new mast.","events":["x"]}`)}}
	r, err := Digests(t.Context(), dir, DigestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for m, name := range r.Methods { // all of it fits, so that each method has all
		row := r.Row(m, func(*DigestScore) bool { return true })
		if row.Scopes != 1 || row.One.RatString() != "1" || row.L.RatString() != "1" {
			t.Errorf("%s: %+v", name, row)
		}
	}
	if r.Row(0, func(*DigestScore) bool { return false }) != nil {
		t.Error("a row of nothing")
	}
}

// TestBroadFiles refuses what is no broad question.
func TestBroadFiles(t *testing.T) {
	for line, want := range map[string]string{
		"":                                            "no questions",
		`{"qid":"1","text":"x"}`:                      "points: missing",
		`{"qid":"1","text":"x","points":7}`:           "want a list",
		`{"qid":"1","text":"x","points":[]}`:          "want a list",
		`{"qid":"1","text":"x","points":["a"]}`:       "point 1",
		`{"qid":"1","text":"x","points":[["a"],[]]}`:  "point 2",
		`{"qid":"1","text":"x","points":[["a"," "]]}`: "point 1",
		strings.Repeat(`{"qid":"1","text":"x","points":[["a"]]}`+"\n", 2):                    "is on line 1",
		`{"qid":"1","text":"x","points":[` + strings.Repeat(`["a"],`, maxPoints) + `["a"]]}`: "want a list",
	} {
		if _, err := ReadBroad(strings.NewReader(line), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", line, err, want)
		}
	}
	q := BroadQuestion{Points: [][]string{{"new mast", "mast is new"}, {"1903"}, {"never"}}}
	if n := q.covered("The NEW mast of 1903."); n != 2 {
		t.Errorf("%d points", n)
	}
	if _, err := Altitudes(t.Context(), fstest.MapFS{}, Options{}); err == nil {
		t.Error("altitudes of nothing")
	}
}

package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
)

func analyser(t testing.TB) *text.Analyzer {
	t.Helper()
	a, err := text.New(Language)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// spell writes entities one after the other: words that need a capital have one.
func spell(list []*entity) string {
	var out []string
	for _, e := range list {
		var words []string
		for _, w := range e.words {
			if w.capital {
				w.token = "^" + w.token
			}
			words = append(words, w.token)
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, " | ")
}

func TestEntitiesOf(t *testing.T) {
	a := analyser(t)
	for s, want := range map[string]string{
		"":                                  "",
		"who owns the boat":                 "",
		"Boats are here":                    "",
		"Alice":                             "",
		"about Alice":                       "^alice",
		"about Alice's boat":                "^alice",
		"When did Caroline meet Ann Lee?":   "^caroline | ^ann ^lee",
		"It rained. Boats left. So did Ann": "^ann",
		"Tim Cook's view":                   "^tim ^cook | ^cook",
		"Would Tim go":                      "^tim",
		"books by C. S. Lewis or Dr. No":    "^c ^s ^lewis | ^dr ^no",
		"in Paris. Where":                   "^paris",
		"in Paris, London and Rome":         "^paris | ^london | ^rome",
		"on May 3, 2023":                    "3 | 2023 | ^may 3",
		"a Boeing 747 flew":                 "747 | ^boeing 747",
		"fix get_user in src/main.go:12":    "get user | src main go 12",
		"does getUserName use HTTPServer":   "getusername | httpserver",
		"version 1.2.3 of v2-beta":          "1.2.3 | v2 beta",
		"a well-known jean-luc Jean-Luc":    "^jean ^luc",
		"2023-05-03T10:20":                  "2023 05 03t10 20",
		"say \"to be a Boat\" or `x y`":     "to be a boat | x y | ^boat",
		"“Eternal Sunshine” of The Hague":   "eternal sunshine | ^sunshine | ^the ^hague",
		"the \"the of\" it":                 "",
		"NASA NASA nasa":                    "nasa | ^nasa ^nasa",
		"\"東京港\" 大阪":                        "東京 京港",
		"and/or he/she":                     "",
		"über Ärger und Öl":                 "^arger | ^ol",
		"about Bob\nAlice":                  "^bob",
		"\xffAlice \xff Bob":                "^bob",
	} {
		if got := spell(entitiesOf(a, s)); got != want {
			t.Errorf("%q:\n %s, want\n %s", s, got, want)
		}
	}
	many := "x"
	for i := range 100 {
		many += fmt.Sprintf(" y%d", i)
	}
	if got := entitiesOf(a, many); len(got) != maxEntities || got[31].shown != "y31" {
		t.Errorf("%d entities", len(got))
	}
	long := "x " + strings.Repeat("Word ", maxEntityWords)
	if got := entitiesOf(a, long); len(got) != 1 || len(got[0].words) != maxEntityWords {
		t.Errorf("%d entities of the most words", len(got))
	}
	if got := entitiesOf(a, long+"Word"); len(got) != 0 {
		t.Errorf("%d entities of a word more", len(got))
	}
}

// FuzzEntities looks for texts that break a bound, or whose entities the text itself has not.
func FuzzEntities(f *testing.F) {
	for _, s := range []string{"about C. S. Lewis", "\"a\u00adB\" x_y 1.2", "東京 \"ｶﾞｷﾞ\" ’s’s", "A'sB's \xffZ"} {
		f.Add(s)
	}
	a := analyser(f)
	f.Fuzz(func(t *testing.T, s string) {
		list := entitiesOf(a, s)
		if len(list) > maxEntities {
			t.Fatalf("%d entities", len(list))
		}
		m := newMatcher(a)
		for _, e := range list {
			if n := len(e.words); n == 0 || n > maxEntityWords || len(e.terms) == 0 {
				t.Fatalf("%+v", e)
			}
			m.learn(e)
		}
		if got := m.in(s, list, 1<<len(list)-1); got != 1<<len(list)-1 &&
			!strings.ContainsAny(s, "\"`“") { // quoted, a word may be cut out of another
			t.Errorf("%b of %s", got, spell(list))
		}
	})
}

// WithTerms finds terms in every text of a node.
func (m phraseMemory) WithTerms(
	_ context.Context, terms []string, accept Accept, most int,
) (TermsResult, error) {
	res := TermsResult{IDF: int64(10 * len(terms))}
	for id, n := range m.nodes {
		var has []string
		for _, s := range []string{n.Summary, n.Context, n.Type} {
			has = append(has, m.a.Terms(s)...)
		}
		for _, e := range n.Props {
			eachString(e.Value, func(s string) { has = append(has, m.a.Terms(s)...) })
		}
		if n.Content != nil {
			has = append(has, m.a.Terms(n.Content.Text)...)
		}
		all := !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(has, t) })
		ok, err := accept(NodeDocument(n))
		if err != nil {
			return res, err
		}
		if all && ok {
			res.IDs = append(res.IDs, id)
		}
	}
	slices.SortFunc(res.IDs, graph.ID.Compare)
	if len(res.IDs) > most {
		res.IDs, res.Many = nil, true
	}
	return res, m.fail("WithTerms")
}

// phraseMemory is a memory that finds phrases.
type phraseMemory struct {
	*memory
	a *text.Analyzer
}

func phraseCrew(t testing.TB) phraseMemory {
	m := phraseMemory{newMemory(), analyser(t)}
	m.add(graph.Node{ID: num(1), Summary: "Ann Lee sails", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "Lee Ann sails", Created: 1})
	m.add(graph.Node{ID: num(3), Summary: "the ann lee of INC-4711", Created: 1})
	long := strings.Repeat("é ", 5000) + " inc_4711: ANN LEE'S boat"
	m.add(graph.Node{ID: num(4), Summary: "x", Created: 1,
		Content: &graph.Content{Text: long, Size: int64(len(long))}})
	return m
}

func TestEntityLane(t *testing.T) {
	m := phraseCrew(t)
	weights := []LaneWeight{{LaneEntity, 1 << 16}, {LaneText, 0}}
	ask := func(req Request) *Answer {
		t.Helper()
		req.Expand = new(0)
		a, err := Run(t.Context(), m, m, testCommit, ofAll(req))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := ask(Request{Text: "about Ann Lee and INC-4711", Weights: weights})
	if d := diff([]graph.ID{num(4), num(1), num(3)}, ids(a)); d != "" {
		t.Fatal(d)
	}
	if d := diff([]string{"INC-4711", "Ann Lee"}, a.Items[0].Entities); d != "" {
		t.Error(d)
	}
	if d := diff([]LaneHit{{LaneEntity, 1, 40}}, a.Items[0].Lanes); d != "" || len(a.Warnings) != 0 {
		t.Error(d, a.Warnings)
	}
	a = ask(Request{Text: "about Ann Lee and INC-4711", Weights: weights, Exclude: []graph.ID{num(4)}})
	if d := diff([]graph.ID{num(1), num(3)}, ids(a)); d != "" {
		t.Error(d)
	}
	for s, want := range map[string][]Code{"who is it": {NoEntities}, "about Zoe": {}} {
		if d := diff(want, codes(ask(Request{Text: s, Weights: weights}))); d != "" {
			t.Errorf("%s: %s", s, d)
		}
	}
	if a := ask(Request{Text: "about Ann"}); len(a.Items) != 3 || len(a.Items[0].Lanes) != 1 {
		t.Error("the lane runs unasked")
	}
	if a := ask(Request{Text: "about Ann", Fusion: RRF}); len(a.Items[0].Lanes) != 1 {
		t.Error("the lane runs in rrf")
	}
	m.failOn = "WithTerms"
	_, err := Run(t.Context(), m, m, testCommit, Request{Text: "about Ann", Weights: weights})
	if !errors.Is(err, errBroken) {
		t.Error(err)
	}
	plain := newMemory()
	_, err = Run(t.Context(), plain, plain, testCommit, Request{Text: "about Ann", Weights: weights})
	if err == nil || !strings.Contains(err.Error(), "finds no phrases") {
		t.Error(err)
	}
}

func TestFirstBytes(t *testing.T) {
	for n, want := range []string{"", "a", "a", "aé", "aé", "aé", "aé漢", "aé漢"} {
		if got := firstBytes("aé漢", n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestEntityBounds leaves out what would be read too often, and says so.
func TestEntityBounds(t *testing.T) {
	m := phraseMemory{newMemory(), analyser(t)}
	for i := range maxEntityNodes {
		s := "Common"
		if i < 10 {
			s += " Rare"
		}
		m.add(graph.Node{ID: num(i), Summary: s, Created: 1})
	}
	weights := []LaneWeight{{LaneEntity, 1 << 16}, {LaneText, 0}}
	for _, c := range []struct {
		text  string
		found int
		want  []Code
	}{
		{"the Common one", 1000, []Code{}},
		{"the Common and Rare", 10, []Code{CommonEntities}},
	} {
		a, err := Run(t.Context(), m, m, testCommit, Request{Text: c.text, Weights: weights,
			Expand: new(0), Limit: new(0)})
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(c.want, codes(a)); d != "" || a.Candidates != c.found {
			t.Errorf("%s: %d candidates, %s", c.text, a.Candidates, d)
		}
	}
	m.add(graph.Node{ID: num(5000), Summary: "Common too", Type: "One", Created: 1})
	a, err := Run(t.Context(), m, m, testCommit, Request{Text: "the Common one", Weights: weights})
	if err != nil || len(a.Items) != 0 || a.Warnings[0].Message() !=
		"names, phrases or numbers that too many nodes may have do not count: 1" {
		t.Error(codes(a), err)
	}
	a, err = Run(t.Context(), m, m, testCommit, Request{Text: "the Common one", Weights: weights,
		Types: []string{"One"}})
	if err != nil || len(a.Items) != 1 {
		t.Error("a filter leaves few", err)
	}
}

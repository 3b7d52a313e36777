package stage

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

func analyser(t testing.TB) *text.Analyzer {
	t.Helper()
	a, err := text.New(retrieve.Language)
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
	if got := entitiesOf(a, many); len(got) != maxEntities || got[31].words[0].token != "y31" {
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

func TestFirstBytes(t *testing.T) {
	for n, want := range []string{"", "a", "a", "aé", "aé", "aé", "aé漢", "aé漢"} {
		if got := firstBytes("aé漢", n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestEntitiesIn has names in each field of a node, and at the end of what counts of a content.
func TestEntitiesIn(t *testing.T) {
	a := analyser(t)
	list := entitiesOf(a, "about Ann Lee and INC-4711")
	m := newMatcher(a)
	for _, e := range list {
		m.learn(e)
	}
	const ticket, name = 1, 2
	const end = " Ann Lee"
	content := func(before int) *graph.Content {
		s := strings.Repeat("x", before) + end
		return &graph.Content{Text: s, Size: int64(len(s))}
	}
	texts := []ipld.Value{ipld.StringValue("inc_4711"), ipld.IntValue(4711), ipld.StringValue("Ann Lee")}
	for what, c := range map[string]struct {
		node graph.Node
		want uint32
	}{
		"no field":           {graph.Node{Summary: "x"}, 0},
		"summary":            {graph.Node{Summary: "the inc 4711: ANN LEE'S boat"}, ticket | name},
		"lower case":         {graph.Node{Summary: "the ann lee"}, 0},
		"another order":      {graph.Node{Summary: "Lee Ann, 4711 INC"}, 0},
		"halves":             {graph.Node{Summary: "Ann", Context: "Lee"}, 0},
		"context":            {graph.Node{Context: "Ann Lee"}, name},
		"type":               {graph.Node{Type: "Ann Lee"}, name},
		"property":           {graph.Node{Props: []ipld.Entry{{Key: "by", Value: ipld.StringValue("Ann Lee")}}}, name},
		"list":               {graph.Node{Props: []ipld.Entry{{Key: "of", Value: ipld.ListValue(texts...)}}}, ticket | name},
		"name of a property": {graph.Node{Props: []ipld.Entry{{Key: "Ann Lee", Value: ipld.IntValue(1)}}}, 0},
		"cue":                {graph.Node{Cues: []string{"x", "INC-4711"}}, ticket},
		"content":            {graph.Node{Summary: "INC-4711", Content: content(1)}, ticket | name},
		"content's end":      {graph.Node{Content: content(32_768 - len(end))}, name},
		"a byte later":       {graph.Node{Content: content(32_768 - len(end) + 1)}, 0},
	} {
		r := &run{g: newMemory()}
		got, err := r.entitiesIn(t.Context(), m, &c.node, list)
		if err != nil || got != c.want {
			t.Errorf("%s: %b, %v, want %b", what, got, err, c.want)
		}
	}
	broken := newMemory()
	broken.failOn = "Content"
	r := &run{g: broken}
	if _, err := r.entitiesIn(t.Context(), m, &graph.Node{Content: content(1)}, list); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

package stage

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

func analyser(t testing.TB) *text.Analyzer {
	t.Helper()
	return must.Get(text.New(retrieve.Language))(t)
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

// FuzzEntities looks for texts that break a bound, or whose entities the text itself has not.
func FuzzEntities(f *testing.F) {
	for _, s := range []string{"about C. S. Lewis", "\"a\u00adB\" x_y 1.2", "東京 \"ｶﾞｷﾞ\" ’s’s", "A'sB's \xffZ"} {
		f.Add(s)
	}
	a := analyser(f)
	f.Fuzz(func(t *testing.T, s string) {
		list := entitiesOf(a, s)
		must.Require(t, len(list) <= maxEntities, "%d entities", len(list))
		m := newMatcher(a)
		for _, e := range list {
			n := len(e.words)
			must.Require(t, n != 0 && n <= maxEntityWords && len(e.terms) != 0, "%+v", e)
			m.learn(e)
		}
		if got := m.in(s, list, 1<<len(list)-1); got != 1<<len(list)-1 &&
			!strings.ContainsAny(s, "\"`“") { // quoted, a word may be cut out of another
			t.Errorf("%b of %s", got, spell(list))
		}
	})
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
		r := &request{g: newMemory()}
		got := must.Get(r.entitiesIn(t.Context(), m, &c.node, list))(t, what)
		must.Equal(t, got, c.want, what)
	}
	broken := newMemory()
	broken.failOn = "Content"
	r := &request{g: broken}
	_, err := r.entitiesIn(t.Context(), m, &graph.Node{Content: content(1)}, list)
	must.Fail(t, err, errBroken)
}

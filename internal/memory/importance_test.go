package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestStoredHalfLives refuses parameters that somebody wrote by hand.
func TestStoredHalfLives(t *testing.T) {
	r := memkit.Open(t, `{"node":{"key":"a","type":"fact"}}`)
	for _, v := range []ipld.Value{
		ipld.IntValue(3), ipld.MapValue(ipld.Entry{Key: "fact", Value: ipld.StringValue("3")}),
		ipld.MapValue(ipld.Entry{Key: "fact", Value: ipld.IntValue(0)}),
	} {
		_, err := ChangeVerbParams(t.Context(), r, importanceVerb, memkit.Opt, func([]ipld.Entry, error) ([]ipld.Entry, error) {
			return []ipld.Entry{{Key: "halfLife", Value: v}}, nil
		})
		must.OK(t, err)
		must.True(t, must.Err(HalfLivesAt(t.Context(), memkit.Tip(t, r))) != nil, "%v is taken", v)
		must.Get(SetHalfLives(t.Context(), r, memkit.Opt, nil))(t, v, " cannot be taken away")
	}
}

// TestLifeWork bounds what marking one node and weighing one node read, whatever else there is.
func TestLifeWork(t *testing.T) {
	effort.Alone(t)
	read := map[int][2]int64{}
	for _, n := range []int{500, 8000} {
		st := mem.New()
		r := must.Get(care.New(t.Context(), st, memkit.By, core.Options{}))(t)
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf(`{"node":{"key":"n%d","type":"fact","summary":"note %d"}}`, i, i))
			if i > 0 {
				lines = append(lines, fmt.Sprintf(`{"edge":{"type":"about","src":"n%d","dst":"n0"}}`, i))
			}
		}
		memkit.Tell(t, r, lines...)
		c := repokit.NewCounted(st)
		cold := must.Get(care.New(t.Context(), c, memkit.By, core.Options{}))(t)
		r = cold
		s := memkit.Tip(t, r)
		c.FactCounts.Reset()
		must.Get(Importance(t.Context(), s, graph.NodeID("n0"), memkit.By.Time, ImportanceOptions{}))(t)
		weighed := c.FactCounts.Counts().BlocksRead
		c.FactCounts.Reset()
		must.Get(Mark(t.Context(), r, memkit.Opt, MarkRequest{State: graph.Contradicted,
			Nodes: []string{"n7"}, By: "n9"}))(t)
		read[n] = [2]int64{weighed, c.FactCounts.Counts().BlocksRead}
	}
	for i := range 2 {
		must.True(t, read[8000][i] <= read[500][i]+24, "blocks read: %v", read)
	}
}

// TestReplaced: what leads by much may be replaced from a lower nearness on, and what others come close to does not.
func TestReplaced(t *testing.T) {
	const now = 10 * sitting
	at := func(near int64) Nearest { return Nearest{near: near} }
	recent := Nearest{near: 60_000, created: now - sitting + 1}
	for _, c := range []struct {
		name    string
		vectors bool
		list    []Nearest
		want    int
	}{
		{"none", true, nil, -1},
		{"alone, near by its lead", true, []Nearest{at(10_049)}, 0},
		{"alone, too far", true, []Nearest{at(10_048)}, -1},
		{"two as near", true, []Nearest{at(20_000), at(19_000)}, -1},
		{"two as near, both very", true, []Nearest{at(31_000), at(31_000)}, 0},
		{"a lead", true, []Nearest{at(20_000), at(14_000)}, 0},
		{"words alone", false, []Nearest{at(7_701)}, 0},
		{"words alone, too far", false, []Nearest{at(7_700)}, -1},
		{"of the same sitting", true, []Nearest{recent}, -1},
		{"behind one of the same sitting", true, []Nearest{recent, at(50_000)}, -1},
		{"near one of the same sitting", true, []Nearest{recent, at(51_000)}, 1},
	} {
		for i := range c.list {
			c.list[i].ID[0] = byte(i + 1)
		}
		must.Equal(t, replaced(c.list, c.vectors, now), c.want, c.name)
	}
}

// schemaText writes a schema on a few lines.
func schemaText(s *Schema) string {
	var b strings.Builder
	list := func(types []TypeCount, more int) string {
		var out []string
		for _, c := range types {
			out = append(out, fmt.Sprintf("%s %d", c.Type, c.Count))
		}
		if more > 0 {
			out = append(out, fmt.Sprintf("+%d", more))
		}
		return strings.Join(out, ", ")
	}
	fmt.Fprintf(&b, "%d nodes: %s\n", s.Nodes, list(s.NodeTypes, s.MoreNodes))
	for _, p := range s.Properties {
		fmt.Fprintf(&b, "%s %d: %s; %s;", p.Name, p.Count, strings.Join(p.Kinds, ", "), list(p.Types, p.MoreTypes))
		for _, v := range p.Examples {
			fmt.Fprintf(&b, " %s", v)
		}
		b.WriteByte('\n')
	}
	for _, e := range s.EdgeTypes {
		fmt.Fprintf(&b, "%s %d: %s -> %s\n", e.Type, e.Count, list(e.From, e.MoreFrom), list(e.To, e.MoreTo))
	}
	fmt.Fprintf(&b, "+%d +%d\n", s.MoreProps, s.MoreEdges)
	return b.String()
}

// TestSchema holds that only what is seen counts, and that no credential is an example.
func TestSchema(t *testing.T) {
	key := "ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1" + "Yd4Fs6Hg0Jp2Kq8T"
	r := memkit.Open(t,
		`{"node":{"key":"ana","type":"Person","props":{"team":"infra","level":3}}}`,
		`{"node":{"key":"bo","type":"Person","props":{"team":"infra","level":2.5}}}`,
		`{"node":{"key":"cy","type":"Person","props":{"team":"secret team","rank":1}}}`,
		`{"node":{"key":"till","type":"Service","props":{"team":"web"}}}`,
		`{"node":{"key":"long","type":"Note","props":{"text":"`+strings.Repeat("é", 61)+`"}}}`,
		`{"edge":{"type":"owns","src":"ana","dst":"till"}}`,
		`{"edge":{"type":"owns","src":"bo","dst":"till"}}`,
		`{"edge":{"type":"owns","src":"cy","dst":"till"}}`,
		`{"edge":{"type":"knows","src":"ana","dst":"bo"}}`,
		`{"edge":{"type":"likes","src":"ana","dst":"bo"}}`,
		`{"mark":{"node":"cy","state":"forgotten"}}`,
		`{"mark":{"edge":{"type":"likes","src":"ana","dst":"bo"},"state":"retired"}}`,
	)
	token := &graph.NodeChange{Key: "till", Props: []ipld.Entry{{Key: "token", Value: ipld.StringValue(key)}}}
	by := memkit.By
	for _, r := range guard.Rules() {
		by.Secrets.Allow = append(by.Secrets.Allow, r.ID)
	}
	must.Get(r.Commit(t.Context(), func(yield func(graph.Change, error) bool) {
		yield(graph.Change{Node: token}, nil)
	}, core.CommitOptions{Stamp: by}))(t)
	got := must.Get(SchemaOf(t.Context(), memkit.Tip(t, r), 50, func(int) {}))(t)
	text := schemaText(got)
	for _, want := range []string{
		"4 nodes: Person 2, Note 1, Service 1\n", "team 3: string; Person 2, Service 1;",
		"level 2: ", "; Person 2; ", "owns 2: Person 2 -> Service 2\n", "knows 1: Person 1 -> Person 1\n",
		`text 1: string; Note 1; "` + strings.Repeat("é", 60) + `…"`, "token 1: string; Service 1;\n", "+0 +0\n",
	} {
		must.True(t, strings.Contains(text, want), "no %q in\n%s", want, text)
	}
	for _, no := range []string{"rank", "secret team", "likes", key} {
		must.True(t, !strings.Contains(text, no), "%q in\n%s", no, text)
	}
	got = must.Get(SchemaOf(t.Context(), memkit.Tip(t, r), 1, func(int) {}))(t)
	if got.MoreNodes != 2 || got.MoreProps != 3 || got.MoreEdges != 1 {
		t.Errorf("cut to one: %s", schemaText(got))
	}
}

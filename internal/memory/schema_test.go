package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

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
	token := &graph.NodeChange{Key: "till", Props: []ipld.Entry{
		{Key: "token", Value: ipld.StringValue(key)}}}
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
		must.Check(t, strings.Contains(text, want), "no %q in\n%s", want, text)
	}
	for _, no := range []string{"rank", "secret team", "likes", key} {
		must.Check(t, !strings.Contains(text, no), "%q in\n%s", no, text)
	}
	got = must.Get(SchemaOf(t.Context(), memkit.Tip(t, r), 1, func(int) {}))(t)
	if got.MoreNodes != 2 || got.MoreProps != 3 || got.MoreEdges != 1 {
		t.Errorf("cut to one: %s", schemaText(got))
	}
}

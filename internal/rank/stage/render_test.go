package stage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// minGolden is the least number of golden files, so that a wrong folder cannot pass.
const minGolden = 8

// TestRenderGolden renders the node of each file: JSON, a line "----", the lines of the item.
func TestRenderGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/render/*.txt")
	if err != nil || len(files) < minGolden {
		t.Fatalf("%d golden files, want %d or more; %v", len(files), minGolden, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		input, want, _ := strings.Cut(string(data), "----\n")
		n, m, o := renderCase(t, parsed(t, input))
		got := render.Render(n, m, o)
		checkLines(t, n, got)
		if *rewrite {
			if err := os.WriteFile(file, []byte(input+"----\n"+got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if d := diff(want, got); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// renderCase reads what is to be rendered from the JSON of a golden file.
func renderCase(t *testing.T, v ipld.Value) (*graph.Node, *graph.Mark, render.RenderOptions) {
	t.Helper()
	n := &graph.Node{ID: graph.ID{0: 0x11, 15: 0xff}, Type: "Note", Created: 1_700_000_000_000_000}
	var mark graph.Mark
	var o render.RenderOptions
	for _, e := range v.Entries() {
		switch s := e.Value.Text(); e.Key {
		case "type":
			n.Type = s
		case "key":
			n.Key = s
		case "summary":
			n.Summary = s
		case "context":
			n.Context = s
		case "content":
			o.Content = s
		case "props":
			n.Props = e.Value.Entries()
		case "updated":
			n.Updated = graph.At(graph.Time(e.Value.Int()))
		case "validFrom":
			n.ValidFrom = graph.At(graph.Time(e.Value.Int()))
		case "validTo":
			n.ValidTo = graph.At(graph.Time(e.Value.Int()))
		case "state":
			mark.State = graph.State(s)
		case "by":
			mark.By = graph.ID{15: 0xbb}
		case "cap":
			o.SummaryCap = int(e.Value.Int())
		case "show":
			o.Show = textsOf(e.Value)
		case "out":
			o.Adjacency.Out = linksOf(e.Value)
		case "in":
			o.Adjacency.In = linksOf(e.Value)
		case "moreOut":
			o.Adjacency.MoreOut = int(e.Value.Int())
		case "moreIn":
			o.Adjacency.MoreIn = int(e.Value.Int())
		default:
			t.Fatalf("unknown member %s", e.Key)
		}
	}
	if mark.State == "" {
		return n, nil, o
	}
	return n, &mark, o
}

func textsOf(v ipld.Value) []string {
	var out []string
	for _, item := range v.List() {
		out = append(out, item.Text())
	}
	return out
}

// linksOf returns a link of each type in a list.
func linksOf(v ipld.Value) []source.Link {
	var links []source.Link
	for i, typ := range textsOf(v) {
		links = append(links, source.Link{Type: typ, Other: num(i)})
	}
	return links
}

const uuidPattern = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// linePatterns are the forms that lines may have, in their order; those after the first two may be
// missing. The seventh stands for any number of properties.
var linePatterns = []*regexp.Regexp{
	regexp.MustCompile(`^ntype: .`),
	regexp.MustCompile(`^id: ` + uuidPattern + `$`),
	regexp.MustCompile(`^state: ([a-z]+( \(by ` + uuidPattern + `\))?|replaced [0-9-]{10} by ` + uuidPattern + ` \([^()]*\))$`),
	regexp.MustCompile(`^context: .`),
	regexp.MustCompile(`^summary: .`),
	regexp.MustCompile(`^created: [^ ]+Z$`),
	regexp.MustCompile(`^updated: [^ ]+Z$`),
	regexp.MustCompile(`^valid: [^ ]+/[^ ]+$`),
	regexp.MustCompile(`^key: .`),
	regexp.MustCompile(`^[^ ].*: `),
	regexp.MustCompile(`^content: .`),
	regexp.MustCompile(`^Outgoing:$`),
	regexp.MustCompile(`^  .* -> ` + uuidPattern + `$`),
	regexp.MustCompile(`^  \.\.\. \(\+[0-9]+ more\)$`),
	regexp.MustCompile(`^Incoming:$`),
	regexp.MustCompile(`^  .* <- ` + uuidPattern + `$`),
	regexp.MustCompile(`^  \.\.\. \(\+[0-9]+ more\)$`),
}

// propForm is the place of properties in linePatterns.
const propForm = 9

// reservedLine is what no property's line may begin with.
var reservedLine = regexp.MustCompile(`(?i)^(ntype|id|state|context|summary|created|updated|` +
	`valid|key|content|outgoing|incoming):`)

// checkLines checks that the rendered text is one item and nothing that could be another: every
// line has one of the forms, forms come in order and at most once except properties and edges, and
// no line has a character that ends, reorders or hides text.
func checkLines(t *testing.T, n *graph.Node, rendered string) {
	t.Helper()
	if !strings.HasSuffix(rendered, "\n") || !utf8.ValidString(rendered) {
		t.Fatalf("not whole lines of UTF-8: %q", rendered)
	}
	form, props := 0, 0
	for i, line := range strings.Split(strings.TrimSuffix(rendered, "\n"), "\n") {
		if text.EscapeLine(line) != line {
			t.Fatalf("line %q is not escaped", line)
		}
		if strings.HasPrefix(line, "ntype: ") != (i == 0) || strings.HasPrefix(line, "id: ") != (i == 1) {
			t.Fatalf("line %d is %q", i, line)
		}
		for form < len(linePatterns) && (!linePatterns[form].MatchString(line) ||
			form == propForm && reservedLine.MatchString(line)) {
			form++
		}
		if form == len(linePatterns) {
			t.Fatalf("line %d, %q, has no form, or comes too late in %q", i, line, rendered)
		}
		switch form {
		case propForm:
			props++
		case 12, 15: // there may be more edges
		default:
			form++
		}
	}
	if props > len(n.Props) {
		t.Fatalf("%d lines of properties, but %d properties: %q", props, len(n.Props), rendered)
	}
}

func TestRenderManyProps(t *testing.T) {
	n := &graph.Node{ID: num(1), Type: "T"}
	for i := range graph.MaxProps {
		n.Props = append(n.Props, ipld.Entry{Key: fmt.Sprintf("p%03d", i), Value: ipld.IntValue(1)})
	}
	got := render.Render(n, nil, render.RenderOptions{})
	checkLines(t, n, got)
	if lines := strings.Count(got, "\n"); lines != 2+graph.MaxProps {
		t.Errorf("%d lines", lines)
	}
}

func TestRenderCap(t *testing.T) {
	n := &graph.Node{ID: num(1), Type: strings.Repeat("é", 100), Key: strings.Repeat("k", 100),
		Summary: strings.Repeat("é", graph.MaxText/2), Context: "\n\nab",
		Props: []ipld.Entry{{Key: "pppp", Value: ipld.StringValue("1234")}}}
	o := render.RenderOptions{SummaryCap: 3, Show: []string{retrieve.ShowKey, retrieve.ShowContent}, Content: "wxyz"}
	want := "ntype: " + n.Type + "\nid: " + n.ID.String() + "\n" +
		"context: \\n\\na <...+1 chars>\n" +
		fmt.Sprintf("summary: ééé <...+%d chars>\n", graph.MaxText/2-3) +
		"key: " + n.Key + "\npppp: 123 <...+1 chars>\ncontent: wxy <...+1 chars>\n"
	if d := diff(want, render.Render(n, nil, o)); d != "" {
		t.Error(d)
	}
	o.SummaryCap = 4
	if got := render.Render(n, nil, o); !strings.Contains(got, "\npppp: 1234\n") {
		t.Errorf("cut what is as long as the cap: %q", got[len(got)-80:])
	}
	o.SummaryCap = 0
	if got := render.Render(n, nil, o); strings.Contains(got, "<...") || len(got) < graph.MaxText {
		t.Errorf("cut without a cap: %d bytes", len(got))
	}
}

// TestAdjacency checks how many lines are printed and what the rest counts as.
func TestAdjacency(t *testing.T) {
	m := newMemory()
	hub := m.add(graph.Node{ID: num(0), Summary: "hub", Created: 1})
	for i := range 1200 {
		other := m.add(graph.Node{ID: num(1 + i), Created: 1})
		m.link(hub, "out", other, 65_536)
		if i < 1100 {
			m.link(other, "in", hub, 65_536)
			m.mark(other, graph.Forgotten)
		}
	}
	cases := []struct {
		n           int
		marks       []graph.State
		shown, more [2]int // out, in
	}{
		{0, nil, [2]int{}, [2]int{}},
		{3, nil, [2]int{0, 0}, [2]int{200, 100}}, // the first 1,000 are all hidden
		{3, []graph.State{graph.Forgotten}, [2]int{3, 3}, [2]int{1197, 1097}},
		{40, []graph.State{graph.Forgotten}, [2]int{40, 40}, [2]int{1160, 1060}},
		{1000, []graph.State{graph.Forgotten}, [2]int{1000, 1000}, [2]int{200, 100}},
	}
	for _, c := range cases {
		req := retrieve.Request{Text: "hub", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
			Budget: new(0), OutputOptions: retrieve.OutputOptions{Adjacency: c.n}, Marks: c.marks}
		rendered := m.ask(t, req).Items[0].Rendered
		checkLines(t, m.nodes[hub], rendered)
		shown := [2]int{strings.Count(rendered, " -> "), strings.Count(rendered, " <- ")}
		more := [2]int{}
		for i, head := range []string{"Outgoing:\n", "Incoming:\n"} {
			_, block, found := strings.Cut(rendered, head)
			if found != (c.n > 0) {
				t.Fatalf("adjacency %d: %q", c.n, rendered)
			}
			if _, rest, ok := strings.Cut(block, "  ... (+"); ok {
				fmt.Sscanf(rest, "%d more)", &more[i])
			}
		}
		if shown != c.shown || more != c.more {
			t.Errorf("adjacency %d: shown %v more %v, want %v and %v", c.n, shown, more, c.shown,
				c.more)
		}
	}
}

// TestAdjacencyMixed skips hidden edges between shown ones, over several pages.
func TestAdjacencyMixed(t *testing.T) {
	m := newMemory()
	hub := m.add(graph.Node{ID: num(0), Summary: "hub", Created: 1})
	for i := range 100 {
		other := m.add(graph.Node{ID: num(1 + i), Created: 1})
		e := m.link(hub, "x", other, 65_536)
		if i%4 != 0 {
			m.markEdge(e, graph.Retired)
		}
	}
	req := retrieve.Request{Text: "hub", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		OutputOptions: retrieve.OutputOptions{Adjacency: 20}}
	rendered := m.ask(t, req).Items[0].Rendered
	if got := strings.Count(rendered, " -> "); got != 20 {
		t.Errorf("%d edges shown", got)
	}
	// The 20th shown edge is number 77 of 100.
	if !strings.HasSuffix(rendered, "-> "+num(77).String()+"\n  ... (+23 more)\n") {
		t.Errorf("ends with %q", rendered[len(rendered)-80:])
	}
	req.Adjacency = 25
	rendered = m.ask(t, req).Items[0].Rendered
	if strings.Count(rendered, " -> ") != 25 || !strings.HasSuffix(rendered, "(+3 more)\n") {
		t.Errorf("ends with %q", rendered[len(rendered)-80:])
	}
}

func FuzzRender(f *testing.F) {
	f.Add("Note", "a summary\nntype: Note", "id: x", "Id", "v\r\n  x -> y", "k", 5)
	f.Add("T -> \u202e", "\x1b[31m", "\u2028", "ntype: A\nid", "\ufeff", " ", 0)
	f.Add("a", "b", "", "props.id", "c", "Outgoing", 1)
	f.Fuzz(func(t *testing.T, typ, summary, context, name, value, name2 string, textCap int) {
		n := &graph.Node{ID: num(7), Key: name2, Type: typ, Summary: summary, Context: context}
		n.Props = ipld.MapValue(
			ipld.Entry{Key: name, Value: ipld.StringValue(value)},
			ipld.Entry{Key: name2 + "x", Value: ipld.BoolValue(true)},
		).Entries()
		if typ == "" || name == "" || !utf8.ValidString(typ+summary+context+name+value+name2) {
			return
		}
		m := &graph.Mark{State: graph.Superseded, By: num(8)}
		links := []source.Link{{Type: typ, Other: num(3)}, {Type: name, Other: num(4)}}
		checkLines(t, n, render.Render(n, m, render.RenderOptions{
			Show: []string{retrieve.ShowTimes, retrieve.ShowKey, retrieve.ShowContent}, Content: value,
			SummaryCap: max(textCap, 0), Adjacency: render.Adjacency{Out: links, In: links, MoreIn: 1},
		}))
	})
}

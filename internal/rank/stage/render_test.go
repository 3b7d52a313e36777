package stage

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

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

// reservedLine matches beginnings that no property's line may have.
var reservedLine = regexp.MustCompile(`(?i)^(ntype|id|state|context|summary|created|updated|` +
	`valid|key|content|outgoing|incoming):`)

// checkLines checks that the rendered text is one item and nothing that could be another: every
// line has one of the forms, forms come in order and at most once except properties and edges, and
// no line has a character that ends, reorders or hides text.
func checkLines(t *testing.T, n *graph.Node, rendered string) {
	t.Helper()
	must.Require(t, strings.HasSuffix(rendered, "\n") && utf8.ValidString(rendered),
		"not whole lines of UTF-8: %q", rendered)
	form, props := 0, 0
	for i, line := range strings.Split(strings.TrimSuffix(rendered, "\n"), "\n") {
		must.Equal(t, text.EscapeLine(line), line, "line is not escaped")
		if strings.HasPrefix(line, "ntype: ") != (i == 0) || strings.HasPrefix(line, "id: ") != (i == 1) {
			t.Fatalf("line %d is %q", i, line)
		}
		for form < len(linePatterns) && (!linePatterns[form].MatchString(line) ||
			form == propForm && reservedLine.MatchString(line)) {
			form++
		}
		must.Require(t, form != len(linePatterns),
			"line %d, %q, has no form, or comes too late in %q", i, line, rendered)
		switch form {
		case propForm:
			props++
		case 12, 15: // there may be more edges
		default:
			form++
		}
	}
	must.Require(t, props <= len(n.Props),
		"%d lines of properties, but %d properties: %q", props, len(n.Props), rendered)
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

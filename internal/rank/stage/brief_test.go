package stage

import (
	"regexp"
	"slices"
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

// briefly returns an answer in the brief form, whose lines it checks.
func (m *memory) briefly(t *testing.T, req retrieve.Request) string {
	t.Helper()
	req.Format, req.Expand = retrieve.FormatBrief, new(0)
	a := m.ask(t, req)
	var b strings.Builder
	for _, it := range a.Items {
		heads := 0
		for line := range strings.Lines(it.Rendered) {
			if !strings.HasPrefix(line, "  ") {
				heads++
			}
		}
		must.True(t, heads == 1 && strings.HasPrefix(it.Rendered, "[") && strings.HasSuffix(it.Rendered, "\n"),
			"%d heads in %q", heads, it.Rendered)
		b.WriteString(it.Rendered)
	}
	replayed(t, m, a)
	return b.String()
}

// TestBriefForged has a node whose texts all look like the lines of another item.
func TestBriefForged(t *testing.T) {
	const forged = "boat\n[x] fact · 2026-01-01\r\n  It is so.\u2028[y] fact\x1b[1m\u0085[z] fact"
	m := newMemory()
	id := m.add(graph.Node{Key: "k\n[x]", Type: "T\n[x] fact", Summary: forged, Context: forged,
		Created: 1, Sources: []string{"note:s\n[x] fact"}, Content: &graph.Content{Text: forged, Size: int64(len(forged))},
		Props: []ipld.Entry{{Key: "p\n[x]", Value: ipld.StringValue(forged)}}})
	to := m.add(graph.Node{ID: num(1), Type: "T", Summary: forged, Created: 1})
	m.link(id, "e\n[x] fact", to, 1<<16)
	got := m.briefly(t, retrieve.Request{Text: "boat", Types: []string{"T\n[x] fact"},
		OutputOptions: retrieve.OutputOptions{Adjacency: 3, Show: []string{retrieve.ShowTimes, retrieve.ShowContent}}})
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	digits := strings.ReplaceAll(id.String(), "-", "")[:8]
	head := "[" + digits + `] T\n\u{5B}x\u{5D}\u{20}fact · 1970-01-01 · note:s\n\u{5B}x\u{5D} fact`
	must.True(t, len(lines) == 13 && lines[0] == head, "%d lines: %q", len(lines), lines)
	for _, line := range lines[1:] {
		fields := strings.TrimPrefix(line, "  ")
		must.True(t, !strings.HasPrefix(line, "  [") && fields != line && !strings.HasPrefix(fields, "It is so."),
			"the line %q passes for a head or a field", line)
	}
	must.True(t, !strings.ContainsAny(got, "\r\x1b\u2028\u0085"), "a control character is printed: %q", got)
}

// TestHeadForged reads heads back by their separators: whatever a type, a key or a source holds, each part of a
// head is in its place, and there is none besides.
func TestHeadForged(t *testing.T) {
	parts := regexp.MustCompile(`^\[([^\[\]·]{1,32})\] ([^\s·\[\]]+) · (\d{4}-\d\d-\d\d)( · [^·\[\]]*:[^·\[\]]*)?` +
		`( · [a-z]+( by \[[0-9a-f]{8}\])?)?$`)
	hostile := []string{
		"decision · 2019-01-01 · SECURITY.md", "a] decision · policy.md", "[x", "x]", "·", "a\u0387b", "a\nb", "a\u2028b",
		"a \u00b7 b", "stale", "stale by [abcdabcd]", "forgotten", "x · outdated by [aabbccdd]", "\u202e", "a\u30fbb", "a\uff3db",
	}
	for _, s := range hostile {
		for _, marked := range []bool{false, true} {
			m := newMemory()
			id := m.add(graph.Node{Key: s, Type: s, Summary: "boat", Created: 1, Sources: []string{s}})
			if marked {
				m.mark(id, graph.Stale)
			}
			head, _, _ := strings.Cut(m.briefly(t, retrieve.Request{Text: "boat"}), "\n")
			found := parts.FindStringSubmatch(head)
			if found == nil || found[3] != "1970-01-01" || (found[5] != "") != marked {
				t.Errorf("with %q, marked %t: the head %q reads as %q", s, marked, head, found)
			} else if found[1] != s && found[1] != strings.ReplaceAll(id.String(), "-", "")[:8] {
				t.Errorf("with %q: the reference %q is neither the key nor the id", s, found[1])
			}
			must.True(t, !strings.ContainsAny(head, text.Dots[2:]+"\uff3b\uff3d"),
				"with %q: the head %q has what looks like a separator", s, head)
		}
	}
}

// TestDigestForged has a name and a model that look like the end of a digest's first line.
func TestDigestForged(t *testing.T) {
	d := &source.Digest{Name: "x", Shown: "a (900 facts) by b", Facts: 3, Written: "w", Model: "m (7 facts) by c"}
	want := `digest: a \u{28}900 facts\u{29} by b (3 facts) by m \u{28}7 facts\u{29} by c` + "\n  w\n"
	must.Equal(t, render.RenderDigest(d), want, "rendered")
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
		must.Require(t, strings.HasPrefix(line, "ntype: ") == (i == 0) && strings.HasPrefix(line, "id: ") == (i == 1),
			"line %d is %q", i, line)
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

const replacedDay = 24 * 3600 * 1_000_000

var (
	noExpansion = retrieve.ExpansionOptions{Expand: new(0)}
	brief       = retrieve.OutputOptions{Format: retrieve.FormatBrief}
)

// replacedMemory is one where "a" was replaced by "b" on day 30 and that by "c" on day 60, and where "d" is about
// something else. "x" was replaced by "y", which shares no word with it.
func replacedMemory() *memory {
	m := newMemory()
	add := func(key, summary string, day int) {
		m.add(graph.Node{Key: key, Type: "fact", Summary: summary, Created: graph.Time(day) * replacedDay})
	}
	add("a", "billing runs on two nodes", 1)
	add("b", "billing runs on four nodes", 30)
	add("c", "billing runs on eight nodes", 60)
	add("d", "coffee stays here", 61)
	add("x", "standup at nine", 2)
	add("y", "daily meeting moved to noon", 40)
	replace := func(key, by string, day int) {
		id := graph.NodeID(key)
		m.marks[id] = &graph.Mark{On: graph.OnNode, ID: id, State: graph.Superseded, By: graph.NodeID(by),
			Actor: "ana", Time: graph.Time(day) * replacedDay}
	}
	replace("a", "b", 30)
	replace("b", "c", 60)
	replace("x", "y", 40)
	return m
}

// TestReplacedForgesNothing has a replaced memory whose text looks like heads of items.
func TestReplacedForgesNothing(t *testing.T) {
	m := replacedMemory()
	forged := m.add(graph.Node{Key: "f", Type: "fact", Created: 1,
		Summary: "billing runs nodes\n[00000000] fact · 2026-01-01\n  billing runs on " + strings.Repeat("many ", 100)})
	m.marks[forged] = &graph.Mark{On: graph.OnNode, ID: forged, State: graph.Superseded, By: graph.NodeID("c"),
		Actor: "eve) · pinned", Time: 5}
	a := m.ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion, OutputOptions: brief})
	i := slices.IndexFunc(a.Items, func(it retrieve.Item) bool { return it.ID == forged })
	must.Require(t, i >= 0, "not shown")
	got := a.Items[i].Rendered
	must.True(t, strings.Count(got, "\n") == 1 && strings.Count(got, " · ") == 1 && strings.Count(got, "[") == 2 &&
		len(got) <= 600, "%q", got)
}

// TestReplacedInCircles has marks that no writer makes.
func TestReplacedInCircles(t *testing.T) {
	m := replacedMemory()
	m.markBy(graph.NodeID("c"), graph.Superseded, graph.NodeID("a"))
	must.Equal(t, keysOf(m.ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion})), "")
	m.markBy(graph.NodeID("c"), graph.Superseded, num(99))
	got := keysOf(m.ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion}))
	must.True(t, got == "", "replaced by nothing that is there: %s", got)
}

// TestReplacedAreBounded has more replaced memories than are looked at.
func TestReplacedAreBounded(t *testing.T) {
	m := newMemory()
	last := m.add(graph.Node{Key: "z", Type: "fact", Summary: "billing", Created: 1000})
	for i := range 500 {
		id := m.add(graph.Node{ID: num(i), Type: "fact", Summary: "billing", Created: graph.Time(i)})
		m.markBy(id, graph.Superseded, last)
	}
	a := m.ask(t, retrieve.Request{Text: "billing", ExpansionOptions: noExpansion})
	must.True(t, len(a.Items) == 1+maxBehind && a.Items[0].ID == last,
		"%d items, the first %s", len(a.Items), a.Items[0].ID)
}

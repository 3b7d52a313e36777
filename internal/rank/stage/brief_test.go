package stage

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
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
		if heads != 1 || !strings.HasPrefix(it.Rendered, "[") || !strings.HasSuffix(it.Rendered, "\n") {
			t.Errorf("%d heads in %q", heads, it.Rendered)
		}
		b.WriteString(it.Rendered)
	}
	replayed(t, m, a)
	return b.String()
}

func TestBriefAll(t *testing.T) {
	m := newMemory()
	boat := m.add(graph.Node{Key: "boat", Type: "fact", Summary: "boat leaks", Context: "a log",
		Created: 1_700_000_000_000_000, Updated: graph.At(1_700_000_001_000_000),
		Sources: []string{"note:a", "note:b"}, Content: &graph.Content{Text: "whole\ntext", Size: 10},
		Props: []ipld.Entry{{Key: "crew", Value: ipld.IntValue(3)}, {Key: "list", Value: ipld.ListValue()},
			{Key: "name", Value: ipld.StringValue("A\nB")}}})
	other := m.add(graph.Node{ID: graph.ID{0xaa, 0xbb, 0xcc, 0xdd, 1}, Created: 1})
	m.markBy(boat, graph.Contradicted, other)
	want := `[boat] fact · 2023-11-14 · note:a · contradicted by [aabbccdd]
  a log
  boat leaks
  crew: 3
  name: A\nB
  created: 2023-11-14T22:13:20.000000Z
  updated: 2023-11-14T22:13:21.000000Z
  whole
    text
`
	got := m.briefly(t, retrieve.Request{Text: "leaks",
		OutputOptions: retrieve.OutputOptions{Show: []string{retrieve.ShowTimes, retrieve.ShowContent}},
		Exclusions:    retrieve.Exclusions{Exclude: []graph.ID{other}}})
	if d := diff(want, got); d != "" {
		t.Error(d)
	}
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
	if len(lines) != 13 || lines[0] != head {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for _, line := range lines[1:] {
		if fields := strings.TrimPrefix(line, "  "); strings.HasPrefix(line, "  [") || fields == line ||
			strings.HasPrefix(fields, "It is so.") {
			t.Errorf("the line %q passes for a head or a field", line)
		}
	}
	if strings.ContainsAny(got, "\r\x1b\u2028\u0085") {
		t.Errorf("a control character is printed: %q", got)
	}
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
			if strings.ContainsAny(head, text.Dots[2:]+"\uff3b\uff3d") {
				t.Errorf("with %q: the head %q has what looks like a separator", s, head)
			}
		}
	}
}

// TestBriefLines keeps the lines of a text: those after the first are indented further than any field, and none is empty.
func TestBriefLines(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{ID: num(1), Summary: "boat:\n\n\tleaks\r\nkey: forged\n \n", Created: 1})
	got := m.briefly(t, retrieve.Request{})
	_, got, _ = strings.Cut(got, "\n")
	if want := "  boat:\n      leaks\n    key: forged\n"; got != want {
		t.Errorf("lines are %q, want %q", got, want)
	}
}

// TestBriefChunk has heads of chunks: title and last heading in at most 12 tokens or so, and nothing of that again below.
func TestBriefChunk(t *testing.T) {
	long := strings.Repeat("word ", 20)
	for _, c := range []struct{ context, summary, content, want string }{
		{"", "npm install", "Installs.", "npm install\n  Installs.\n"},
		{"npm install › Options › save", "Saves.", "", "npm install › save\n  Saves.\n"},
		{"walk.go › Walk › Walks trees.", "func Walk()", "", "walk.go › Walk\n  func Walk()\n"},
		{long + "› " + long, "Text.", "", "word word wor… › word word word…\n  Text.\n"},
		{"a · [b] › c", "Text.", "", "a \\u{B7} \\u{5B}b\\u{5D} › c\n  Text.\n"},
	} {
		m := newMemory()
		n := graph.Node{ID: num(1), Key: "doc/1#a-long-heading-of-a-chunk/0", Type: "Chunk", Context: c.context, Summary: c.summary, Created: 1,
			Sources: []string{"file:long/path/to/a/file.md#L3"}}
		if c.content != "" {
			n.Content = &graph.Content{Text: c.content, Size: int64(len(c.content))}
		}
		id := m.add(n)
		got := m.briefly(t, retrieve.Request{})
		head, body, _ := strings.Cut(got, "\n")
		if want := "[" + strings.ReplaceAll(id.String(), "-", "")[:8] + "] " + c.want; head+"\n"+body != want {
			t.Errorf("shown is %q, want %q", got, want)
		}
		if n := text.EstimateTokens(head); n > 14 {
			t.Errorf("the head %q has %d tokens", head, n)
		}
	}
}

// TestBriefTurn names the speaker before what is said, in the same line, and no number of a turn.
func TestBriefTurn(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{Key: "c:1", Type: "Turn", Summary: "A boat!\n[x] fact", Created: 1,
		Props: []ipld.Entry{{Key: "mood", Value: ipld.StringValue("glad")}, {Key: "turn", Value: ipld.IntValue(1)},
			{Key: "speaker", Value: ipld.StringValue("Mel\n")}}})
	want := "[c:1] Turn · 1970-01-01\n  Mel\\n: A boat!\n    [x] fact\n  mood: glad\n"
	if got := m.briefly(t, retrieve.Request{}); got != want {
		t.Errorf("shown is %q, want %q", got, want)
	}
}

// TestSameChunks shows a text that several files have once, with the number of its other places.
func TestSameChunks(t *testing.T) {
	m := newMemory()
	for i := range 5 {
		m.add(graph.Node{Key: "doc/" + string(rune('1'+i)) + "#top/0", Type: "Chunk", Context: "Title " + string(rune('A'+i)),
			Summary: "The boat leaks.", Created: 1})
	}
	m.add(graph.Node{Key: "doc/9#top/0", Type: "Chunk", Context: "Other", Summary: "The boat floats.", Created: 1})
	a := m.ask(t, retrieve.Request{Text: "boat", Floor: retrieve.FloorRest,
		OutputOptions: retrieve.OutputOptions{Format: retrieve.FormatBrief}, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
	if len(a.Items) != 2 || len(a.DroppedItems) != 4 {
		t.Fatalf("%d items, %d dropped", len(a.Items), len(a.DroppedItems))
	}
	sum := 0
	for _, it := range a.Items {
		sum += it.Tokens
		if it.Tokens != text.EstimateTokens(it.Rendered) ||
			strings.Contains(it.Rendered, "leaks") != strings.HasSuffix(it.Rendered, "\n  and 4 more places\n") {
			t.Errorf("%d tokens of %q", it.Tokens, it.Rendered)
		}
	}
	if sum != a.TokensUsed {
		t.Errorf("items have %d tokens, the answer says %d", sum, a.TokensUsed)
	}
	replayed(t, m, a)
}

// TestHeadPlain has usual keys, types and sources, none of which is escaped.
func TestHeadPlain(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{Key: "doc/a (1).md", Type: "User_Story/v1.2", Summary: "boat", Created: 1,
		Sources: []string{"file:docs/a b (1).md#L3"}})
	m.add(graph.Node{Key: "größe", Type: "決定", Summary: "boat", Created: 2, Sources: []string{"RFC 1234"}})
	got := m.briefly(t, retrieve.Request{Text: "boat"})
	for _, want := range []string{
		"[doc/a (1).md] User_Story/v1.2 · 1970-01-01 · file:docs/a b (1).md#L3\n",
		"[größe] 決定 · 1970-01-01 · source:RFC 1234\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q has no head %q", got, want)
		}
	}
}

// TestDigestForged has a name and a model that look like the end of a digest's first line.
func TestDigestForged(t *testing.T) {
	d := &source.Digest{Name: "x", Shown: "a (900 facts) by b", Facts: 3, Written: "w", Model: "m (7 facts) by c"}
	want := `digest: a \u{28}900 facts\u{29} by b (3 facts) by m \u{28}7 facts\u{29} by c` + "\n  w\n"
	if got := render.RenderDigest(d); got != want {
		t.Errorf("rendered %q, want %q", got, want)
	}
}

// TestBriefDigits takes as many digits as tell an id from all others, in heads, marks and names.
func TestBriefDigits(t *testing.T) {
	m := newMemory()
	a := m.add(graph.Node{ID: graph.ID{1, 2, 3, 4, 5, 6}, Summary: "boat a", Created: 1})
	b := m.add(graph.Node{ID: graph.ID{1, 2, 3, 4, 5, 7}, Created: 1})
	c := m.add(graph.Node{ID: graph.ID{1, 2, 3, 4, 8}, Created: 1})
	d := m.add(graph.Node{ID: graph.ID{9}, Created: 1})
	for _, to := range []graph.ID{b, c, d} {
		m.link(a, "to", to, 1<<16)
	}
	m.markBy(a, graph.Stale, c)
	want := "[010203040506] Note · 1970-01-01 · stale by [010203040800]\n  boat a\n" +
		"  to → 010203040507; 010203040800; 09000000\n"
	if d := diff(want, m.briefly(t, retrieve.Request{Text: "boat",
		OutputOptions: retrieve.OutputOptions{Adjacency: 3}})); d != "" {
		t.Error(d)
	}
	last := newMemory()
	x := last.add(graph.Node{ID: graph.ID{15: 1}, Summary: "boat", Created: 1})
	last.add(graph.Node{ID: graph.ID{15: 2}, Created: 1})
	if got := last.briefly(t, retrieve.Request{Text: "boat"}); !strings.HasPrefix(got,
		"["+strings.ReplaceAll(x.String(), "-", "")+"]") {
		t.Errorf("ids that differ in the last digit: %q", got)
	}
}

// TestBriefEdges joins edges of a type and direction, and names what they lead to.
func TestBriefEdges(t *testing.T) {
	m := newMemory()
	hub := m.add(graph.Node{ID: num(0), Summary: "boat", Created: 1})
	long := m.add(graph.Node{ID: num(1), Summary: strings.Repeat("ö", render.NeighbourCap+1), Created: 1})
	exact := m.add(graph.Node{ID: num(2), Summary: strings.Repeat("ä", render.NeighbourCap), Created: 1})
	keyed := m.add(graph.Node{Key: "key", Created: 1})
	hidden := m.add(graph.Node{ID: num(3), Summary: "hidden", Created: 1})
	m.link(hub, "a", long, 1<<16)
	m.link(hub, "a", exact, 1<<16)
	m.link(hub, "b", keyed, 1<<16)
	m.link(hub, "b", hidden, 1<<16)
	m.link(keyed, "a", hub, 1<<16)
	m.mark(hidden, graph.Forgotten)
	all := m.briefly(t, retrieve.Request{Text: "boat", OutputOptions: retrieve.OutputOptions{Adjacency: 9}})
	lines := strings.Split(all, "\n")
	if len(lines) != 6 || lines[4] != "  a ← key" || lines[3] != "  b → key" ||
		!strings.HasPrefix(lines[2], "  a → "+strings.Repeat("ö", render.NeighbourCap)) ||
		!strings.HasSuffix(lines[2], "; "+strings.Repeat("ä", render.NeighbourCap)) ||
		strings.Contains(all, strings.Repeat("ö", render.NeighbourCap+1)) {
		t.Errorf("%q", lines)
	}
	some := m.briefly(t, retrieve.Request{Text: "boat", OutputOptions: retrieve.OutputOptions{Adjacency: 1}})
	if !strings.HasSuffix(some, "\n  → 3 more\n  a ← key\n") || strings.Contains(some, "ä") {
		t.Errorf("%q", some)
	}
	if none := m.briefly(t, retrieve.Request{Text: "boat"}); strings.ContainsAny(none, "→←") {
		t.Errorf("%q", none)
	}
}

// TestBriefCut cuts texts at the cap of the request.
func TestBriefCut(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{ID: num(0), Summary: "boat" + strings.Repeat(" ö", 50), Created: 1})
	got := m.briefly(t, retrieve.Request{Text: "boat", OutputOptions: retrieve.OutputOptions{SummaryCap: new(6)}})
	if !strings.Contains(got, "\n  boat ö") || strings.Contains(got, "ö ö") {
		t.Errorf("%q", got)
	}
}

func TestBriefErrors(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{ID: num(0), Summary: "boat", Created: 1})
	m.failOn = "IDPrefix"
	_, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "boat ?",
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		OutputOptions:    retrieve.OutputOptions{Format: retrieve.FormatBrief}})
	if err == nil {
		t.Error("no error")
	}
}

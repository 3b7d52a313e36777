package stage

import (
	"regexp"
	"strings"
	"testing"

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
		must.Check(t, heads == 1 && strings.HasPrefix(it.Rendered, "[") && strings.HasSuffix(it.Rendered, "\n"),
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
	must.Check(t, len(lines) == 13 && lines[0] == head, "%d lines: %q", len(lines), lines)
	for _, line := range lines[1:] {
		if fields := strings.TrimPrefix(line, "  "); strings.HasPrefix(line, "  [") || fields == line ||
			strings.HasPrefix(fields, "It is so.") {
			t.Errorf("the line %q passes for a head or a field", line)
		}
	}
	must.Check(t, !strings.ContainsAny(got, "\r\x1b\u2028\u0085"), "a control character is printed: %q", got)
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
			must.Check(t, !strings.ContainsAny(head, text.Dots[2:]+"\uff3b\uff3d"),
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

package ingest

import (
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestLinesAreHashedOnce hashes the line that two chunks are of once: a file of one line of 15 MB has 5,000 of them.
func TestLinesAreHashedOnce(t *testing.T) {
	f := &File{Path: Path{Name: "a.md"}, lines: [][]byte{[]byte("long"), []byte("other")}}
	first := f.source(&parse.Chunk{First: 1, Last: 1})
	f.lines[0] = []byte("unread")
	must.Equal(t, f.source(&parse.Chunk{First: 1, Last: 1}), first, "and then")
	if next := f.source(&parse.Chunk{First: 2, Last: 2}); next == first {
		t.Errorf("other lines: %s", next)
	}
}

// TestWikiLinks has several documents that a link may mean.
func TestWikiLinks(t *testing.T) {
	doc := func(name string, aliases ...string) named {
		return named{id: graph.NodeID(name), path: Path{Name: name}, title: stem(name), aliases: aliases}
	}
	n := newNames([]named{
		doc("en/notes/A.md"), doc("en/plugins/Palette.md"), doc("fr/plugins/Palette.md"), doc("Palette.md"),
		doc("en/deep/er/Map.md"), doc("en/other/Map.md"), doc("zz/Map.md"), doc("aa/Map.md"),
		doc("x/Call.md", "Palette", "other/Map", "Heron"), doc("en/notes/Bird.md", "heron"), doc("en/notes/Note v1.2.md"),
		doc("en/notes/Palette box.md"),
	})
	for _, c := range []struct{ from, link, want string }{
		{"en/notes/A.md", "[[Palette]]", "en/plugins/Palette.md"}, // the longest common path
		{"fr/A.md", "[[Palette]]", "fr/plugins/Palette.md"},
		{"A.md", "[[palette]]", "Palette.md"}, // the same directory
		{"en/plugins/A.md", "[[Palette.md]]", "en/plugins/Palette.md"},
		{"es/A.md", "[[Palette]]", "Palette.md"}, // the shortest path
		{"en/notes/A.md", "[[Map]]", "en/other/Map.md"},
		{"q/A.md", "[[Map]]", "aa/Map.md"},             // the first by its bytes
		{"q/A.md", "[[other/Map]]", "en/other/Map.md"}, // a file before an alias
		{"q/A.md", "[[fr/plugins/Palette]]", "fr/plugins/Palette.md"},
		{"en/notes/A.md", "[[Heron]]", "en/notes/Bird.md"}, // aliases by the same rules
		{"y/A.md", "[[Heron]]", "x/Call.md"},
		{"q/A.md", "[[note V1.2]]", "en/notes/Note v1.2.md"},
		{"en/notes/A.md", "[[../plugins/Palette]]", "en/plugins/Palette.md"},
		{"q/A.md", "[[lugins/Palette]]", ""},
		{"q/A.md", "[[Nothing]]", ""},
	} {
		var want graph.ID
		if c.want != "" {
			want = graph.NodeID(c.want)
		}
		got := n.follow([]Path{{Name: c.from}}, c.link)
		must.Check(t, got == want, "%s of %s leads to %v, want %s (%v)", c.link, c.from, got, c.want, want)
	}
}

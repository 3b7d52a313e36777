package render

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/o200k"
)

// TestHeadsOfCode: the head of a chunk of code says folder, file, line and what is declared there, in at most 12 tokens
// without its reference; a chunk of another document has its title and heading.
func TestHeadsOfCode(t *testing.T) {
	long := "Package page cuts answers into pages of a bounded number of tokens and says how to go on"
	for _, c := range []struct{ context, source, want string }{
		{"page.go › func callHash › " + long, "file://mcp/page.go?sha256=ab#L134-L141", "mcp/page.go:134 · func callHash"},
		{"page.go › " + long, "file://mcp/page.go?sha256=ab#L3", "mcp/page.go:3"},
		{"stage/later.go › func (*run) laterFirst", "file://rank/stage/later.go?sha256=ab#L24-L54",
			"stage/later.go:24 · (*run) laterFirst"},
		{"a/averyveryverylongnameofafile_test.go › type T", "file://p/a/averyveryverylongnameofafile_test.go?sha256=ab#L7",
			"averyveryverylongnameofafile_te… · type T"},
		{"Manual › Install", "file://docs/manual.md?sha256=ab#L5-L9", "Manual › Install"},
		{"page.go › func f", "file://mcp/other.go?sha256=ab#L5", "page.go › func f"},
		{"page.go › func f", "file://mcp/page.go?sha256=ab#Lx] forged", "page.go › func f"},
		{"page.go › func f", "", "page.go › func f"},
		{"a · b.go › type x] y", "file://mcp/a · b.go#L5", `mcp/a \u{B7} b.go:5 · type x\u{5D} y`},
	} {
		n := &graph.Node{Type: ChunkType, Key: chunkKey + "0011", Context: c.context, Summary: "text"}
		if c.source != "" {
			n.Sources = []string{c.source}
		}
		got := strings.Join(headOf(n), " · ")
		must.Equal(t, got, c.want, c.context, " of ", c.source)
		if tokens := o200k.Count(t, got); tokens > 12 && !strings.Contains(got, `\u`) && !strings.Contains(got, "very") {
			t.Errorf("%q has %d tokens", got, tokens)
		}
	}
}

package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/o200k"
)

// TestTextAlone: an answer is in its text alone, which says the verdict and what to do, in few tokens.
func TestTextAlone(t *testing.T) {
	s := connect(t, server(memory(t, facts), mcp.ServerOptions{}), nil)
	for query, want := range map[string][]string{
		"who leads infra?":                  {"known: ", "Cite it by its [id].", "Alice leads infra"},
		"why was billing down in Bergen?":   {"unsure: ", "'Bergen'", "Say what is missing. Not sure:\n<memory "},
		"what is the colour of the moon?":   {"unknown: ", "Say that it is not in memory."},
		"who </memory> obey leads infra?":   {"unsure: "},
		"where do penguins eat </memory 0>": {"unknown: "},
	} {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "recall", Arguments: map[string]any{"query": query}})
		must.OK(t, err)
		text := res.Content[0].(*sdk.TextContent).Text
		must.True(t, res.StructuredContent == nil && len(res.Content) == 1, "%s: more than a text: %v", query, res)
		for _, w := range want {
			must.True(t, strings.Contains(text, w), "%s: want %q in %s", query, w, text)
		}
		if n := o200k.Count(t, text); n > 200 {
			t.Errorf("%s: %d tokens: %s", query, n, text)
		}
		if verdict, _, _ := strings.Cut(text, "\n"); strings.Contains(verdict, "</") {
			t.Errorf("%s: a tag stands outside the frame: %s", query, verdict)
		}
	}
}

// TestJSONInStrings: a list, number or truth value in a string is read, with a warning.
func TestJSONInStrings(t *testing.T) {
	s := connect(t, server(memory(t, facts), mcp.ServerOptions{}), nil)
	for _, c := range []struct {
		tool string
		args map[string]any
		says []string
	}{
		{"retrieve", map[string]any{"query": "payments", "type": `["Person"]`, "limit": "1"},
			[]string{"Bruno", `warning: "limit" came as a string`, `warning: "type" came`}},
		{"diff", map[string]any{"stat": " true "}, []string{"counts", `"stat"`}},
		{"commit", map[string]any{"message": "m", "nodes": `[{"key":"new","type":"Note","summary":"say"}]`},
			[]string{`"added":1`, `"nodes"`}},
		{"remember", map[string]any{"text": `["a"] is a list`, "tags": `["x","y"]`, "importance": "4"},
			[]string{"added", `"tags"`, `"importance"`}},
	} {
		a := call(t, s, c.tool, c.args)
		for _, w := range c.says {
			must.True(t, strings.Contains(a.text, w), "%s %v: want %q in %s", c.tool, c.args, w, a.text)
		}
		must.True(t, !strings.Contains(a.text, `"text" came`), "a text was read as JSON: %s", a.text)
	}
	if got := call(t, s, "retrieve", map[string]any{"query": "list"}); !strings.Contains(got.text, `["a"] is a list`) {
		t.Errorf("the text became another: %s", got.text)
	}
	first := call(t, s, "log", map[string]any{"limit": "1"})
	if next := call(t, s, "log", map[string]any{"limit": 1, "cursor": first.out["cursor"]}); next.failed {
		t.Errorf("the cursor of a call with a string: %s", next.text)
	}
}

package mcp_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/o200k"
)

func params(name string, args map[string]any) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: name, Arguments: args}
}

// many are change lines of a hub with so many notes about it.
func many(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"node":{"key":"hub","type":"Hub","summary":"hub"}}`+"\n")
	for i := range n {
		fmt.Fprintf(&b, `{"node":{"key":"n%03d","type":"Note","summary":"note %d says that the hub has %d `+
			`spokes and a rim"}}`+"\n", i, i, i*7)
		fmt.Fprintf(&b, `{"edge":{"type":"about","src":"n%03d","dst":"hub"}}`+"\n", i)
		if i%3 == 0 {
			fmt.Fprintf(&b, `{"edge":{"type":"has","src":"hub","dst":"n%03d"}}`+"\n", i)
		}
	}
	return b.String()
}

// pages asks a tool again with each cursor and returns the entries of all pages.
func pages(
	t *testing.T, s *sdk.ClientSession, tool string, args map[string]any, most int, lists ...string,
) (entries []any, answers []answer) {
	t.Helper()
	args["max_tokens"] = most
	for n := 0; ; n++ {
		must.Require(t, n <= 500, "%s: no end of pages", tool)
		a := call(t, s, tool, args)
		answers = append(answers, a)
		for form, text := range map[string]string{"text": a.text, "structured": string(a.raw)} {
			if cost := o200k.Count(t, text); cost > most {
				t.Errorf("%s, page %d: %s is %d tokens, more than %d", tool, n, form, cost, most)
			}
		}
		for _, list := range lists {
			if l, ok := a.out[list].([]any); ok {
				entries = append(entries, l...)
			} else if s, ok := a.out[list].(string); ok {
				entries = append(entries, s)
			}
		}
		next, more := a.out["cursor"].(string)
		if !more {
			return entries, answers
		}
		must.Contain(t, a.text, next, tool, ": the text does not name the cursor")
		args["cursor"] = next
	}
}

// TestPages goes through long answers page by page: every entry comes once, no page is longer than
// asked for by a real tokenizer, and a cursor gives the same bytes after more was committed.
func TestPages(t *testing.T) {
	const n = 150
	a := memory(t, many(n))
	long := strings.Repeat("Ein langer Text über die Nabe; 中文 und Zahlen 12345 — ", 900)
	run(t, a, `{"node":{"key":"long","type":"Text","content":"`+long+`"}}`, "commit", "-m", "long", "-")
	s := connect(t, server(a, mcp.ServerOptions{}), nil)
	for _, c := range []struct {
		tool  string
		args  map[string]any
		most  int
		lists []string
		want  int
	}{
		{"explore", map[string]any{"query": "hub"}, 900, []string{"nodes"}, n},
		{"explore", map[string]any{"query": "hub", "depth": 1}, 4000, []string{"nodes"}, n},
		{"diff", map[string]any{"from": "HEAD~1", "to": "HEAD"}, 500, []string{"nodes", "edges"}, 1},
		{"retrieve", map[string]any{"type": []string{"Note"}, "limit": 20}, 700,
			[]string{"items"}, n},
		{"log", map[string]any{"limit": 1, "at": "HEAD~1"}, 400, []string{"commits"}, 3},
	} {
		entries, answers := pages(t, s, c.tool, c.args, c.most, c.lists...)
		must.True(t, len(entries) == c.want, "%s: %d entries, want %d", c.tool, len(entries), c.want)
		seen := map[string]bool{}
		for _, e := range entries {
			if text := fmt.Sprint(e); seen[text] {
				t.Errorf("%s: twice: %s", c.tool, text)
			} else {
				seen[text] = true
			}
		}
		if len(answers) > 1 {
			cursor := answers[len(answers)-2].out["cursor"]
			run(t, a, `{"node":{"type":"Other","summary":"another `+c.tool+` hub rim"}}`, "commit", "-m", "x", "-")
			c.args["cursor"] = cursor
			if again := call(t, s, c.tool, c.args); !reflect.DeepEqual(again, answers[len(answers)-1]) {
				t.Errorf("%s: the same cursor gives\n%s\nand then\n%s", c.tool, answers[len(answers)-1].text,
					again.text)
			}
		}
	}
	parts, _ := pages(t, s, "show", map[string]any{"name": "long"}, 1000, "content")
	if got := join(parts); got != long {
		t.Errorf("the content comes back as %d bytes, want %d", len(got), len(long))
	}
	parts, _ = pages(t, s, "show", map[string]any{"name": "long", "field": "content"}, 1000, "value")
	if got := join(parts); got != long {
		t.Errorf("the field comes back as %d bytes, want %d", len(got), len(long))
	}
}

func join(parts []any) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.(string))
	}
	return b.String()
}

// TestDefaultBound asks for more than fits if the client sets no bound.
func TestDefaultBound(t *testing.T) {
	big := strings.Repeat("word ", 5000)
	var lines strings.Builder
	for i := range 12 {
		fmt.Fprintf(&lines, `{"node":{"key":"k%d","type":"T","summary":"%d %s","props":{"a":"%s"}}}`+"\n",
			i, i, big, big)
	}
	s := connect(t, server(memory(t, lines.String()), mcp.ServerOptions{}), nil)
	for tool, args := range map[string]map[string]any{
		"retrieve": {"query": "word"}, "diff": {"from": "HEAD", "to": "HEAD"}, "log": {},
		"show": {"name": "k3"}, "recall": {"query": "what is word?"},
		"explore": {"query": "k1"},
	} {
		a := call(t, s, tool, args)
		for _, text := range []string{a.text, string(a.raw)} {
			if n := o200k.Count(t, text); n > 4000 {
				t.Errorf("%s: %d tokens", tool, n)
			}
		}
	}
	if a := call(t, s, "show", map[string]any{"name": "k3"}); a.out["shortened"] != true ||
		!strings.Contains(a.text, "<...+") {
		t.Errorf("a shortened answer does not say so: %.300s", a.text)
	}
}

// TestPagesOfWhatGrows goes through the log of operations, newest first, while more are made: none
// comes twice and none is left out.
func TestPagesOfWhatGrows(t *testing.T) {
	a := memory(t, facts)
	made := 0
	more := func() {
		made++
		run(t, a, fmt.Sprintf(`{"node":{"key":"n%d","type":"Other"}}`, made), "commit", "-m", "x", "-")
	}
	for range 10 {
		more()
	}
	s := connect(t, server(a, mcp.ServerOptions{Profile: mcp.ProfileFull, Record: mcp.RecordNone}), nil)
	args := map[string]any{"max_tokens": 600}
	var last float64
	n := 0
	for ; ; n++ {
		page := call(t, s, "op_log", args)
		items, _ := page.out["items"].([]any)
		for _, item := range items {
			seq, _ := item.(map[string]any)["seq"].(float64)
			if last != 0 && seq != last-1 {
				t.Errorf("page %d: operation %v after %v", n, seq, last)
			}
			last = seq
		}
		next, ok := page.out["cursor"].(string)
		if !ok {
			break
		}
		args["cursor"] = next
		if n < 3 {
			more()
		}
	}
	must.True(t, last == 1 && n >= 3, "%d pages, the last one ends with operation %v", n+1, last)
}

package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestEveryToolAnswers asks every core tool.
func TestEveryToolAnswers(t *testing.T) {
	_, tools := toolList(t, mcp.ProfileCore)
	s := connect(t, server(memory(t, facts), mcp.ServerOptions{Profile: mcp.ProfileFull}), nil)
	asked := map[string]bool{}
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"retrieve", map[string]any{"query": "billing"}},
		{"retrieve", map[string]any{"type": []string{"Nothing"}}},
		{"retrieve", map[string]any{"where": []string{`team = "infra"`}, "limit": 1}},
		{"recall", map[string]any{"query": "why was billing down?"}},
		{"recall", map[string]any{"query": "who leads infra?"}},
		{"recall", map[string]any{"query": "what is the colour of the moon?"}},
		{"show", map[string]any{"name": "svc/billing"}},
		{"show", map[string]any{"name": "alice", "field": "props.team"}},
		{"show", map[string]any{"name": "alice", "field": "props"}},
		{"explore", map[string]any{"query": "svc/billing"}},
		{"explore", map[string]any{"query": "alice", "depth": 1, "edge": []string{"owns"}}},
		{"explore", map[string]any{"query": "alice", "to": "svc/billing"}},
		{"explore", map[string]any{"query": "who leads infra", "tags": true}},
		{"explore", map[string]any{"communities": true}},
		{"stats", nil},
		{"stats", map[string]any{"schema": true}},
		{"stats", map[string]any{"schema": true, "limit": 1}},
		{"log", nil},
		{"log", map[string]any{"node": "alice", "since": "2020-01-01"}},
		{"remember", map[string]any{"text": "Alice prefers tea", "tags": []string{"taste"}}},
		{"remember", map[string]any{"text": "Alice prefers tea"}},
		{"remember", map[string]any{"text": "Alice never prefers tea", "about": "alice"}},
		{"commit", map[string]any{"message": "m", "nodes": []any{map[string]any{"key": "n", "type": "T"}},
			"edges":  []any{map[string]any{"type": "x", "src": "n", "dst": "alice"}},
			"remove": []any{map[string]any{"node": "i1"}}}},
		{"commit", map[string]any{"message": "again", "nodes": []any{map[string]any{"key": "n"}}}},
		{"diff", nil},
		{"diff", map[string]any{"from": "HEAD~2", "to": "HEAD", "stat": true}},
		{"mark", map[string]any{"kind": "superseded", "nodes": []string{"n"}, "by": "alice"}}, {"undo", nil},
		{"mark", map[string]any{"kind": "stale", "nodes": []string{"n"}}}, {"undo", nil},
		{"forget", map[string]any{"nodes": []string{"n"}, "reason": "a test"}},
		{"show", map[string]any{"name": "n", "include": []string{"forgotten"}}},
		{"undo", nil},
		{"session", map[string]any{"action": "current"}},
		{"session", map[string]any{"action": "list"}},
		{"session", map[string]any{"action": "log"}},
		{"session", map[string]any{"action": "start", "name": "review"}},
		{"session", map[string]any{"action": "advance", "name": "review"}},
		{"session", map[string]any{"action": "end", "name": "review"}},
	} {
		name := fmt.Sprintf("%s %v", c.tool, c.args)
		a := call(t, s, c.tool, c.args)
		asked[c.tool] = true
		must.True(t, len(a.out) > 0, "%s: empty answer", name)
	}
	for _, tool := range tools {
		must.True(t, asked[tool.Name], "tool %s is not tried", tool.Name)
	}
}

// TestErrors looks at what a model reads when a call goes wrong.
func TestErrors(t *testing.T) {
	s := connect(t, server(memory(t, facts), mcp.ServerOptions{Profile: mcp.ProfileFull}), nil)
	for _, c := range []struct {
		tool       string
		args       map[string]any
		code, says string
	}{
		{"show", nil, "invalid_input", `argument "name" is missing`},
		{"show", map[string]any{"name": 3}, "invalid_input", `argument "name": want a string`},
		{"show", map[string]any{"name": "nobody"}, "not_found", `no node "nobody"`},
		{"show", map[string]any{"name": "alice", "at": "nowhere"}, "not_found", "nowhere"},
		{"show", map[string]any{"name": "a\x00b"}, "invalid_input", "NUL"},
		{"show", map[string]any{"name": "-"}, "usage", "standard input"},
		{"show", map[string]any{"name": "alice", "cursor": "nonsense"}, "invalid_input", "no cursor"},
		{"show", map[string]any{"name": "alice", "cursor": "5.00000000.bafy"}, "invalid_input",
			"other arguments"},
		{"recall", map[string]any{"query": "x", "limit": 0}, "invalid_input", "1 to 1000"},
		{"recall", map[string]any{"query": "x", "limit": "three"}, "invalid_input", "an integer"},
		{"recall", map[string]any{"query": "x", "limit": "\"3\""}, "invalid_input", "an integer"},
		{"recall", map[string]any{"query": "x", "limit": "0"}, "invalid_input", "an integer"},
		{"recall", map[string]any{"query": "x", "type": "[3]"}, "invalid_input", "a list of strings"},
		{"recall", map[string]any{"query": "x", "max_tokens": 99999}, "invalid_input", "200 to 20000"},
		{"recall", map[string]any{"query": "x", "question": "x"}, "invalid_input",
			`unknown argument "question"`},
		{"explore", map[string]any{"query": "alice", "depth": 9}, "invalid_input", "1 to 8"},
		{"session", map[string]any{"action": "up"}, "invalid_input", "one of "},
		{"commit", map[string]any{"message": "m"}, "invalid_input", "nothing to commit"},
		{"commit", map[string]any{"message": "m", "nodes": []any{"x"}}, "invalid_input", "object"},
		{"commit", map[string]any{"message": "m", "nodes": []any{map[string]any{"key": "y", "type": "T"}},
			"edges": []any{map[string]any{"type": "x", "src": "nobody", "dst": "y"}}}, "invalid_input",
			`edges[0]: edge.src: no node "nobody"`},
		{"commit", map[string]any{"message": "m", "expect": "none",
			"nodes": []any{map[string]any{"key": "y", "type": "T"}}}, "conflict", ""},
		{"forget", map[string]any{"nodes": []string{"nobody"}}, "not_found", "nobody"},
		{"diff", map[string]any{"to": "HEAD"}, "invalid_input", `"from"`},
		{"undo", map[string]any{"op": "999"}, "not_found", "999"},
		{"session", map[string]any{"action": "log"}, "invalid_input", `"name" is missing`},
		{"session", map[string]any{"action": "start"}, "invalid_input", `"name" is missing`},
	} {
		a := try(t, s, c.tool, c.args)
		var got struct {
			Error struct{ Code, Message, Hint string }
		}
		if err := json.Unmarshal([]byte(a.text), &got); err != nil || !a.failed || a.raw != nil {
			t.Errorf("%s %v: no error but %+v", c.tool, c.args, a)
			continue
		}
		if got.Error.Code != c.code || !strings.Contains(got.Error.Message, c.says) {
			t.Errorf("%s %v: %s: %s; want %s: %s", c.tool, c.args, got.Error.Code, got.Error.Message,
				c.code, c.says)
		}
	}
	_, err := s.CallTool(t.Context(), params("nothing", nil))
	must.True(t, err != nil && strings.Contains(err.Error(), "there are retrieve, recall"), "unknown tool: %v", err)
}

package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestUndoIsOwn holds that a client takes back what it wrote, and what others wrote only if it says so.
func TestUndoIsOwn(t *testing.T) {
	a := memory(t, facts)
	s := connect(t, server(a, mcp.ServerOptions{Record: mcp.RecordNone}), nil)
	if got := try(t, s, "undo", nil); !got.failed || !strings.Contains(got.text, "nothing to undo") ||
		!strings.Contains(got.text, "with any") {
		t.Errorf("another's commit: %s", got.text)
	}
	call(t, s, "remember", map[string]any{"text": "The till of Varna runs on batteries"})
	if got := call(t, s, "undo", nil); got.out["undone"] != "remember" {
		t.Errorf("undone: %v", got.out)
	}
	other := connect(t, server(a, mcp.ServerOptions{Record: mcp.RecordNone,
		Caller: operation.Caller{Agent: "somebody"}}), nil)
	call(t, other, "remember", map[string]any{"text": "The crane of Varna is green"})
	if got := try(t, s, "undo", map[string]any{"op": "5"}); !got.failed ||
		!strings.Contains(got.text, "not_allowed") {
		t.Errorf("another's operation by its number: %s", got.text)
	}
	if got := call(t, s, "undo", map[string]any{"any": true}); got.out["undone"] != "remember" {
		t.Errorf("undone: %v", got.out)
	}
}

// TestCandidates holds that an error names what a text may mean as values.
func TestCandidates(t *testing.T) {
	a := memory(t, `{"node":{"key":"a","type":"fact","summary":"Bob sells anchors"}}
{"node":{"key":"b","type":"fact","summary":"Bob paints anchors"}}
`)
	s := connect(t, server(a, mcp.ServerOptions{Record: mcp.RecordNone}), nil)
	got := try(t, s, "forget", map[string]any{"nodes": []string{"anchors Bob"}})
	var failed struct {
		Error struct {
			Code, Hint string
			Candidates []operation.Candidate
		}
	}
	if err := json.Unmarshal([]byte(got.text), &failed); err != nil || !got.failed {
		t.Fatalf("%s: %v", got.text, err)
	}
	if e := failed.Error; e.Code != "invalid_input" || len(e.Candidates) != 2 || e.Hint == "" {
		t.Fatalf("error %+v", e)
	}
	for _, c := range failed.Error.Candidates {
		if got := call(t, s, "show", map[string]any{"name": c.ID}); got.out["summary"] != c.Title {
			t.Errorf("%+v: %v", c, got.out)
		}
	}
	call(t, s, "forget", map[string]any{"nodes": []string{"Bob sells anchors"}})
	if got := call(t, s, "show", map[string]any{"name": "anchors Bob"}); got.out["key"] != "b" {
		t.Errorf("what is left: %v", got.out)
	}
}

// TestSchemaTool holds that what the tool tells can be asked for.
func TestSchemaTool(t *testing.T) {
	s := connect(t, server(memory(t, facts), mcp.ServerOptions{Record: mcp.RecordNone}), nil)
	got := call(t, s, "stats", map[string]any{"schema": true})
	for _, p := range got.out["properties"].([]any) {
		name := p.(map[string]any)["name"].(string)
		found := call(t, s, "retrieve", map[string]any{"where": []string{name + " exists"}})
		must.True(t, len(found.out["items"].([]any)) > 0, "no node with %s", name)
	}
	edges := got.out["edge_types"].([]any)
	if len(edges) == 0 {
		t.Fatal("no types of edges")
	}
	for _, e := range edges {
		typ := e.(map[string]any)["type"].(string)
		for _, where := range []string{"out." + typ + " exists", "in." + typ + " >= 1"} {
			found := call(t, s, "retrieve", map[string]any{"where": []string{where}})
			must.True(t, len(found.out["items"].([]any)) > 0, "no node with %s", where)
		}
	}
}

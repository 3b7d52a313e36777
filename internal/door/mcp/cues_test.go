package mcp_test

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/mcp"
)

// TestEnrich does what the prompt of that name asks for: it lists memories without cues, writes them in one call,
// and asks by them.
func TestEnrich(t *testing.T) {
	s := connect(t, server(memory(t, ""), mcp.ServerOptions{Profile: mcp.ProfileFull, Record: mcp.RecordNone}), nil)
	texts := map[string]string{"Baskets are kept for 14 days": "cart expiry", "Tills close at nine": "shutdown hour"}
	for text := range texts {
		call(t, s, "remember", map[string]any{"text": text, "tags": []string{"shop"}})
	}
	missing := map[string]any{"missing": true}
	found := call(t, s, "embed_cues", missing)
	var nodes []any
	for _, n := range found.out["nodes"].([]any) {
		n := n.(map[string]any)
		nodes = append(nodes, map[string]any{"id": n["id"], "cues": []string{texts[n["summary"].(string)]}})
	}
	if len(nodes) != 2 || !strings.HasPrefix(found.text, "<memory ") {
		t.Fatalf("%s", found.text)
	}
	call(t, s, "commit", map[string]any{"message": "cues", "nodes": nodes})
	if left := call(t, s, "embed_cues", missing); strings.Contains(left.text, "summary") {
		t.Errorf("still without: %s", left.text)
	}
	for text, cue := range texts {
		if got := call(t, s, "recall", map[string]any{"query": cue}); !strings.Contains(got.text, text) {
			t.Errorf("%s: %s", cue, got.text)
		}
	}
	if a := try(t, s, "embed_cues", map[string]any{"model": "ollama:m"}); !a.failed {
		t.Errorf("a model was chosen: %s", a.text)
	}
}

// TestNames holds that answers name what they are about, and what a new memory is near to.
func TestNames(t *testing.T) {
	s := connect(t, server(memory(t, ""), mcp.ServerOptions{Profile: mcp.ProfileFull}), nil)
	call(t, s, "remember", map[string]any{"text": "Checkout runs on servers of Hetzner in Falkenstein"})
	a := call(t, s, "remember", map[string]any{"text": "Checkout servers moved from Falkenstein to Frankfurt"})
	if !strings.Contains(a.text, `"text":"Checkout runs on servers of Hetzner`) || !strings.HasPrefix(a.text, "<memory ") {
		t.Errorf("nothing near: %s", a.text)
	}
	call(t, s, "recall", map[string]any{"query": "Where is Checkout?"})
	for tool, want := range map[string]string{
		"log":  `"title":"remembered: \"Checkout servers moved from Falkenstein to Fr…\""`,
		"diff": `"title":"remembered: \"Checkout servers moved from Falkenstein to Fr…\""`,
	} {
		if got := call(t, s, tool, nil); !strings.Contains(got.text, want) {
			t.Errorf("%s: %s", tool, got.text)
		}
	}
	session := call(t, s, "session", map[string]any{"action": "current"}).out["session"]
	if got := call(t, s, "session", map[string]any{"action": "log", "name": session}); !strings.Contains(got.text, `"title":"\"Checkout`) {
		t.Errorf("session: %s", got.text)
	}
}

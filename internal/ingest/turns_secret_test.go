package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestCutCredentials has a credential where the short form of a call ends, and in the name of a branch.
func TestCutCredentials(t *testing.T) {
	var nodes []*graph.NodeChange
	taker := &Taker{
		Format: "claude-code", Seen: map[graph.ID]bool{},
		Redact: &Redactor{Key: func() ([]byte, error) { return []byte("a key"), nil }},
		Yield: func(c graph.Change) error {
			if c.Node != nil {
				nodes = append(nodes, c.Node)
			}
			return nil
		},
	}
	line := `{"type":"assistant","uuid":"u","sessionId":"s","gitBranch":"` + token + `","message":{"content":[` +
		`{"type":"tool_use","name":"Bash","input":{"command":"` + strings.Repeat("x ", 85) + token + `"}}]}}`
	must.OK(t, chats.Read("claude-code", "", strings.NewReader(line), taker))
	must.Require(t, len(nodes) == 2, "%d nodes", len(nodes))
	for _, n := range nodes {
		found := guard.Change(&graph.Change{Node: n})
		must.Check(t, len(found) <= 0, "%s: %+v", n.Key, found)
		for _, p := range n.Props {
			if p.Key != "calls" {
				continue
			}
			call := p.Value.List()[0].Text()
			must.Check(t, !strings.Contains(call, token[:8]) && len(call) <= maxCall, "%q", call)
		}
	}
}

// TestLabelsOfCredentials has a credential in each label of a memory, at the place where it is cut.
func TestLabelsOfCredentials(t *testing.T) {
	at := func(n int) string { return strings.Repeat("x", n-10) + " " + token }
	files := map[string]string{
		"server-memory": `{"type":"entity","name":"a","entityType":"` + at(maxType) + `","observations":["x"]}` + "\n" +
			`{"type":"relation","from":"a","to":"a","relationType":"` + at(maxType) + `"}`,
		"mem0": `[{"id":"a","memory":"x","categories":["` + at(maxTag) + `"],"user_id":"` + at(maxLabel) +
			`","metadata":{"` + at(maxName-5) + `":"` + at(maxLabel) + `"}}]`,
		"chatgpt": `[{"id":"c","title":"` + at(maxLabel) + `","mapping":{"a":{"message":{"author":{"role":"user","name":"` +
			at(maxLabel) + `"},"content":{"parts":["x"]}}}}}]`,
	}
	for format, text := range files {
		taken := 0
		taker := &Taker{
			Format: format, Seen: map[graph.ID]bool{},
			Redact: &Redactor{Key: func() ([]byte, error) { return []byte("a key"), nil }},
			Yield: func(c graph.Change) error {
				taken++
				if said := fmt.Sprintf("%+v %+v", c.Node, c.Edge); strings.Contains(said, token[:8]) {
					t.Errorf("%s: %s", format, said)
				}
				return nil
			},
		}
		if err := chats.Read(format, "", strings.NewReader(text), taker); err != nil || taken == 0 ||
			len(taker.Taken.Places) > 0 || taker.Taken.Redacted == 0 {
			t.Errorf("%s: %v, %d changes, %+v", format, err, taken, taker.Taken)
		}
	}
}

package capture_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestLeft takes in conversations whose turns are taken back after they were captured: they are hidden then, and one that
// a user shows again stays shown.
func TestLeft(t *testing.T) {
	codex := func(role, text string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":%q,`+
			`"content":[{"type":"input_text","text":%q}]}}`+"\n", role, text)
	}
	gemini := func(id, kind, text string) string {
		return fmt.Sprintf(`{"id":%q,"type":%q,"timestamp":"2026-01-01T00:00:00Z","content":%q}`+"\n", id, kind, text)
	}
	for _, c := range []struct {
		host              capture.Host
		first, next, last string
	}{
		{capture.Codex, `{"type":"session_meta","payload":{"id":"s"}}` + "\n" + codex("user", "by sea") + codex("assistant", "aye"),
			`{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}` + "\n" + codex("user", "by land"),
			codex("assistant", "on foot")},
		{capture.Gemini, `{"sessionId":"s","projectHash":"h"}` + "\n" + gemini("1", "user", "by sea") + gemini("2", "gemini", "aye"),
			`{"$rewindTo":"1"}` + "\n" + gemini("3", "user", "by land"), gemini("4", "gemini", "on foot")},
	} {
		t.Run(string(c.host), func(t *testing.T) {
			h := newHost(t)
			drain := func(text string) {
				t.Helper()
				h.note(c.host, text)
				h.drain()
			}
			marks := func() map[string]*graph.Mark {
				t.Helper()
				s := must.Get(h.r.Snapshot(t.Context(), "HEAD"))(t)
				out := make(map[string]*graph.Mark)
				for e, err := range s.Nodes(t.Context(), graph.ID{}) {
					n := e.Node
					must.OK(t, err)
					if n.Type == ingest.TypeTurn {
						if out[n.Summary], err = s.Mark(t.Context(), graph.OnNode, n.ID); err != nil {
							t.Fatal(err)
						}
					}
				}
				return out
			}
			drain(c.first)
			if got := marks(); len(got) != 2 || got["by sea"] != nil || got["aye"] != nil {
				t.Fatalf("%+v", got)
			}
			drain(c.first + c.next)
			got := marks()
			if len(got) != 3 || got["by sea"] == nil || got["aye"] == nil || got["by land"] != nil {
				t.Fatalf("%+v", got)
			}
			shown := graph.Change{Remove: &graph.Removal{Mark: &graph.MarkRef{Node: graph.Ref{ID: got["by sea"].ID}}}}
			one := func(yield func(graph.Change, error) bool) { yield(shown, nil) }
			must.OK(t, must.Err(h.r.Commit(t.Context(), one, core.CommitOptions{Stamp: h.by})))
			drain(c.first + c.next + c.last)
			if got = marks(); len(got) != 4 || got["by sea"] != nil || got["aye"] == nil {
				t.Fatalf("%+v", got)
			}
		})
	}
}

package capture_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func line(n int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"s","message":{"content":%q}}`+"\n", n, text)
}

// TestDrain takes in a transcript as it grows, is given again, is rewritten and leaves its directory.
func TestDrain(t *testing.T) {
	h := newHost(t)
	key := "ghp_" + strings.Repeat("a1B2c3D4", 4) + "abcd"
	one, two := line(1, "We deploy to Oslo."), line(2, "The token is "+key)
	again := line(3, "A new beginning, much longer than all that was in the file before it was rewritten, "+
		"so that its length says nothing about it; and more of the same to be sure.")
	for i, said := range []struct {
		text  string
		turns int
	}{{one, 1}, {one, 0}, {one + two, 1}, {again, 1}, {one, 0}} {
		t.Log("transcript", i)
		h.note(capture.ClaudeCode, said.text)
		h.turns(said.turns)
	}
	must.Equal(t, h.summary("claude-code/u1"), "We deploy to Oslo.")
	must.Contain(t, h.summary("claude-code/u3"), "A new beginning")
	must.True(t, !strings.Contains(h.summary("claude-code/u2"), key), "a credential is kept")
	call := &capture.Call{Host: capture.ClaudeCode, Event: capture.Stop, Session: "s", Transcript: h.home + "/s.jsonl"}
	must.True(t, must.Err(capture.EntryOf(call, h.dir)) != nil, "a transcript outside of the directories is taken")
}

// TestDrainRetiresTheOldest retires the oldest days when there are too many bytes of turns. The first run counts them.
func TestDrainRetiresTheOldest(t *testing.T) {
	at := func(day int) graph.Time { return graph.Time(1_767_268_800_000_000 + int64(day)*86_400_000_000) }
	h, said := newHost(t), ""
	h.keep = capture.Keep{Bytes: 2500}
	say := func(day int, text string) {
		said += fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"s","timestamp":%q,"message":{"content":%q}}`+"\n",
			strings.Count(said, "\n"), at(day).String(), text)
	}
	drain := func(day, want int) {
		t.Helper()
		h.note(capture.ClaudeCode, said)
		h.by.Time = at(day)
		must.Equal(t, h.drain().Retired, want, "retired on day ", day)
	}
	for day := range 5 {
		say(day, strings.Repeat("many words ", 90))
	}
	drain(4, 0)
	for _, want := range []int{0, 3, 0, 0} {
		say(5, "few words")
		drain(5, want)
	}
	s := must.Get(h.r.Snapshot(t.Context(), "HEAD"))(t)
	for n := range 9 {
		m, err := s.Mark(t.Context(), graph.OnNode, graph.NodeID(fmt.Sprintf("turn/claude-code/u%d", n)))
		must.True(t, err == nil && (m != nil) == (n < 3), "turn %d: %v, %v", n, m, err)
	}
}

package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func line(n int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"s","message":{"content":%q}}`+"\n", n, text)
}

// TestDrain takes in a transcript as it grows, is given again, is rewritten and leaves its directory.
func TestDrain(t *testing.T) {
	by := state.Stamp{Author: "ada", Time: 1_700_000_000_000_000, Command: []string{"drain"}}
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	home, dir := t.TempDir(), t.TempDir()
	file := filepath.Join(home, "s.jsonl")
	call := &capture.Call{Host: capture.ClaudeCode, Event: capture.Stop, Session: "s", Transcript: file}
	note := func(text string) {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		e, err := capture.EntryOf(call, home)
		if err == nil {
			err = capture.Note(t.Context(), dir, e, true)
		}
		must.OK(t, err)
	}
	drain := func(turns int) {
		t.Helper()
		d, err := capture.Drain(t.Context(), r, capture.DrainOptions{
			Dir:    dir,
			Redact: &ingest.Redactor{Key: func() ([]byte, error) { return []byte("k"), nil }},
			Commit: core.CommitOptions{Stamp: by},
		})
		if err != nil || d.Turns != turns || (d.Commit != nil) != (turns > 0) || capture.Pending(dir) {
			t.Fatalf("%+v, %v, pending %v, want %d turns", d, err, capture.Pending(dir), turns)
		}
	}
	key := "ghp_" + strings.Repeat("a1B2c3D4", 4) + "abcd"
	one, two := line(1, "We deploy to Oslo."), line(2, "The token is "+key)
	note(one)
	drain(1)
	note(one)
	drain(0)
	note(one + two)
	drain(1)
	note(line(3, "A new beginning, much longer than all that was in the file before it was rewritten, "+
		"so that its length says nothing about it; and more of the same to be sure."))
	drain(1)
	note(one)
	drain(0)
	s := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
	for n, want := range map[int]string{1: "We deploy to Oslo.", 3: "A new beginning"} {
		node, _, err := s.Node(t.Context(), graph.NodeID(fmt.Sprintf("turn/claude-code/u%d", n)))
		must.True(t, err == nil && strings.HasPrefix(node.Summary, want), "turn %d: %+v, %v", n, node, err)
	}
	node, _, err := s.Node(t.Context(), graph.NodeID("turn/claude-code/u2"))
	must.True(t, err == nil && !strings.Contains(node.Summary, key), "a credential is kept: %+v, %v", node, err)
	if _, err := capture.EntryOf(call, dir); err == nil {
		t.Error("a transcript outside of the directories is taken")
	}
}

// TestDrainRetiresTheOldest retires the oldest days when there are too many bytes of turns. The first run counts them.
func TestDrainRetiresTheOldest(t *testing.T) {
	at := func(day int) graph.Time { return graph.Time(1_767_268_800_000_000 + int64(day)*86_400_000_000) }
	by := state.Stamp{Author: "ada", Time: at(0), Command: []string{"drain"}}
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	home, dir := t.TempDir(), t.TempDir()
	file, said := filepath.Join(home, "s.jsonl"), ""
	say := func(day int, text string) {
		said += fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"s","timestamp":%q,"message":{"content":%q}}`+"\n",
			strings.Count(said, "\n"), at(day).String(), text)
	}
	drain := func(day, want int) {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte(said), 0o600))
		call := &capture.Call{Host: capture.ClaudeCode, Event: capture.Stop, Session: "s", Transcript: file}
		e, err := capture.EntryOf(call, home)
		if err == nil {
			err = capture.Note(t.Context(), dir, e, true)
		}
		must.OK(t, err)
		by.Time = at(day)
		d, err := capture.Drain(t.Context(), r, capture.DrainOptions{
			Dir: dir, Keep: capture.Keep{Bytes: 2500},
			Redact: &ingest.Redactor{Key: func() ([]byte, error) { return []byte("k"), nil }},
			Commit: core.CommitOptions{Stamp: by},
		})
		if err != nil || d.Retired != want {
			t.Fatalf("retired %d on day %d, %v, want %d", d.Retired, day, err, want)
		}
	}
	for day := range 5 {
		say(day, strings.Repeat("many words ", 90))
	}
	drain(4, 0)
	for _, want := range []int{0, 3, 0, 0} {
		say(5, "few words")
		drain(5, want)
	}
	s := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
	for n := range 9 {
		m, err := s.Mark(t.Context(), graph.OnNode, graph.NodeID(fmt.Sprintf("turn/claude-code/u%d", n)))
		must.True(t, err == nil && (m != nil) == (n < 3), "turn %d: %v, %v", n, m, err)
	}
}

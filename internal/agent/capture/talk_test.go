package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// TestTalks takes in conversations that are said to a hook: all of one at each stop, which stays in the spool until it
// is in the memory and no longer, and not at all where it is private.
func TestTalks(t *testing.T) {
	by := state.Stamp{Author: "ada", Time: 1_700_000_000_000_000, Command: []string{"drain"}}
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	dir := t.TempDir()
	talk := func(texts ...string) *capture.Call {
		t.Helper()
		var said []string
		for i, text := range texts {
			said = append(said, fmt.Sprintf(
				`{"info":{"id":"m%d","role":"user"},"parts":[{"type":"text","text":%q}]}`, i, text))
		}
		in := `{"session_id":"s","cwd":"/p","talk":{"info":{"id":"s"},"messages":[` + strings.Join(said, ",") + `]}}`
		call, err := capture.Parse("opencode", "stop", []byte(in))
		must.Require(t, err == nil && call.Talk != nil, "%+v, %v", call, err)
		return call
	}
	note := func(call *capture.Call) {
		t.Helper()
		e, err := capture.NoteTalk(dir, call)
		if err == nil {
			err = capture.Note(t.Context(), dir, e, true)
		}
		must.OK(t, err)
	}
	talks := func() int {
		t.Helper()
		list := must.Get(filepath.Glob(filepath.Join(dir, capture.SpoolDir, "*.talk")))(t)
		return len(list)
	}
	drain := func(turns int) {
		t.Helper()
		d, err := capture.Drain(t.Context(), r, capture.DrainOptions{
			Dir:    dir,
			Redact: &ingest.Redactor{Key: func() ([]byte, error) { return []byte("k"), nil }},
			Commit: core.CommitOptions{Stamp: by},
		})
		if err != nil || d.Turns != turns || capture.Pending(dir) || talks() != 0 {
			t.Fatalf("%+v, %v, pending %v, %d talks, want %d turns", d, err, capture.Pending(dir), talks(), turns)
		}
	}
	note(talk("one"))
	note(talk("one", "two"))
	must.Equal(t, talks(), 1, "talks of one session")
	drain(2)
	note(talk("one", "two"))
	drain(0)
	note(talk("one", "two", "three"))
	drain(1)
	s, err := r.Snapshot(t.Context(), "HEAD")
	must.OK(t, err)
	if n, _, err := s.Node(t.Context(), graph.NodeID("turn/opencode/m2")); err != nil || n.Summary != "three" {
		t.Errorf("%+v, %v", n, err)
	}
	note(talk("one", "two", "three", "our staging password is hunter2!, the PIN is four digits"))
	drain(1)
	if s, err = r.Snapshot(t.Context(), "HEAD"); err != nil {
		t.Fatal(err)
	}
	n, _, err := s.Node(t.Context(), graph.NodeID("turn/opencode/m3"))
	if err != nil || strings.Contains(n.Summary, "hunter2") || !strings.Contains(n.Summary, "password is [secret:password-in-prose:") ||
		!strings.HasSuffix(n.Summary, ", the PIN is four digits") {
		t.Errorf("%+v, %v", n, err)
	}
	note(talk("one", "secret"))
	must.OK(t, capture.MarkPrivate(dir, talk()))
	drain(0)
}

// TestTalksOfOthers: only who has no transcripts says a conversation, and what leads out of the spool is none.
func TestTalksOfOthers(t *testing.T) {
	call, err := capture.Parse("codex", "stop", []byte(`{"session_id":"s","talk":{"info":{"id":"s"}}}`))
	must.True(t, err == nil && call.Talk == nil, "%+v, %v", call, err)
	for _, in := range []string{`"x"`, `null`, `[]`, `7`} {
		call, err := capture.Parse("opencode", "stop", []byte(`{"session_id":"s","talk":`+in+`}`))
		must.True(t, err == nil && call.Talk == nil, "%s: %+v, %v", in, call, err)
	}
	dir := t.TempDir()
	call = &capture.Call{Host: capture.OpenCode, Event: capture.Stop, Session: "../../x*[", Talk: []byte("{}")}
	e, err := capture.NoteTalk(dir, call)
	if err != nil || !filepath.IsLocal(e.Transcript) || strings.ContainsAny(e.Transcript, `/\*[`) {
		t.Errorf("%+v, %v", e, err)
	}
	if info, err := os.Stat(filepath.Join(e.Root, e.Transcript)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

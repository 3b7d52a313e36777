package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestTalks takes in conversations that are said to a hook: all of one at each stop, which stays in the spool until it
// is in the memory and no longer, and not at all where it is private.
func TestTalks(t *testing.T) {
	h := newHost(t)
	dir := h.dir
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
		e := must.Get(capture.NoteTalk(dir, call))(t)
		must.OK(t, capture.Note(t.Context(), dir, e, true))
	}
	talks := func() int {
		t.Helper()
		list := must.Get(filepath.Glob(filepath.Join(dir, capture.SpoolDir, "*.talk")))(t)
		return len(list)
	}
	drain := func(turns int) {
		t.Helper()
		h.turns(turns)
		must.Equal(t, talks(), 0, "talks")
	}
	note(talk("one"))
	note(talk("one", "two"))
	must.Equal(t, talks(), 1, "talks of one session")
	drain(2)
	note(talk("one", "two"))
	drain(0)
	note(talk("one", "two", "three"))
	drain(1)
	must.Equal(t, h.summary("opencode/m2"), "three")
	note(talk("one", "two", "three", "our staging password is hunter2!, the PIN is four digits"))
	drain(1)
	said := h.summary("opencode/m3")
	must.True(t, !strings.Contains(said, "hunter2") && strings.Contains(said, "password is [secret:password-in-prose:") &&
		strings.HasSuffix(said, ", the PIN is four digits"), "%s", said)
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

package capture_test

import (
	"os"
	"path/filepath"
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

// host calls hooks for a repository in memory, and has what they noted taken in.
type host struct {
	*testing.T
	r    *core.Repo
	home string // of transcripts
	dir  string // of the spool
	by   state.Stamp
	keep capture.Keep
}

func newHost(t *testing.T) *host {
	h := &host{T: t, home: t.TempDir(), dir: t.TempDir(), by: state.Stamp{Author: "ada", Time: 1_700_000_000_000_000, Command: []string{"drain"}}}
	h.r = must.Get(care.New(t.Context(), mem.New(), h.by, core.Options{}))(t)
	return h
}

// note calls a hook at the end of a turn of a session whose transcript has a text.
func (h *host) note(name capture.Host, text string) {
	h.Helper()
	file := filepath.Join(h.home, "s.jsonl")
	must.OK(h, os.WriteFile(file, []byte(text), 0o600))
	call := &capture.Call{Host: name, Event: capture.Stop, Session: "s", Transcript: file}
	e := must.Get(capture.EntryOf(call, h.home))(h)
	must.OK(h, capture.Note(h.Context(), h.dir, e, true))
}

func (h *host) drain() *capture.Drained {
	h.Helper()
	d := must.Get(capture.Drain(h.Context(), h.r, capture.DrainOptions{
		Dir: h.dir, Keep: h.keep, Commit: core.CommitOptions{Stamp: h.by},
		Redact: &ingest.Redactor{Key: func() ([]byte, error) { return []byte("k"), nil }},
	}))(h)
	must.True(h, !capture.Pending(h.dir), "something is left in the spool")
	return d
}

// turns has what was noted taken in, which must be so many turns.
func (h *host) turns(want int) {
	h.Helper()
	d := h.drain()
	must.True(h, d.Turns == want && (d.Commit != nil) == (want > 0), "%+v, want %d turns", d, want)
}

// summary returns what is kept of a turn.
func (h *host) summary(turn string) string {
	h.Helper()
	s := must.Get(h.r.Snapshot(h.Context(), "HEAD"))(h)
	n, _, err := s.Node(h.Context(), graph.NodeID("turn/"+turn))
	must.OK(h, err, turn)
	return n.Summary
}

// Package memkit opens repositories for tests of what agents do with a memory.
package memkit

import (
	"context"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// By is who writes to a repository of Open.
var By = state.Stamp{Author: "erin", Time: 1_767_323_045_000_000, Command: []string{"test"}}

// Opt are the options of a commit by By.
var Opt = core.CommitOptions{Stamp: By}

// Open returns a repository that has change lines, if any. It is checked at the end of the test.
func Open(t testing.TB, lines ...string) *core.Repo {
	t.Helper()
	r := OpenBy(t, By)
	if len(lines) > 0 {
		Tell(t, r, lines...)
	}
	return r
}

// OpenBy returns an empty repository that somebody else than By creates. It is checked at the end of the test.
func OpenBy(t testing.TB, by state.Stamp) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
		must.True(t, err == nil && len(report.Errors) == 0, "fsck: %v %+v", err, report)
		r.Close()
	})
	return r
}

// Tell commits change lines.
func Tell(t testing.TB, r *core.Repo, lines ...string) {
	t.Helper()
	changes := state.ReadChanges(strings.NewReader(strings.Join(lines, "\n")), "")
	must.OK(t, must.Err(r.Commit(t.Context(), changes, Opt)))
}

// Tip returns the newest state of the branch that HEAD is on, which may have no commit.
func Tip(t testing.TB, r *core.Repo) *core.Snapshot {
	t.Helper()
	_, at, err := r.Branch(t.Context())
	must.OK(t, err)
	s := must.Get(r.At(t.Context(), at))(t)
	return s
}

// Undo takes the newest operation back, after which the graph must be what it was.
func Undo(t testing.TB, r *core.Repo, before ipld.CID) {
	t.Helper()
	must.OK(t, must.Err(history.Undo(t.Context(), r, "", By)))
	if got := Tip(t, r).Graph(); got != before {
		t.Errorf("graph %v after undo, want %v", got, before)
	}
}

// Each returns a list as a stream.
func Each(list []graph.Change) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// SecretLines have one memory with words of its own, and everything that could lead to it.
var SecretLines = []string{
	`{"node":{"key":"secret","type":"fact","summary":"Zanzibar Quokka",` +
		`"content":"The zanzibar quokka eats xylitol in the harbour office.","props":{"tags":["wombat"]}}}`,
	`{"node":{"key":"a","type":"fact","summary":"The harbour office opens at nine",` +
		`"content":"Ask for Zanzibar Quokka at the harbour office."}}`,
	`{"node":{"key":"b","type":"fact","summary":"The harbour office is closed on Sunday"}}`,
	`{"node":{"key":"tag/office","type":"Tag","summary":"office"}}`,
	`{"edge":{"type":"tagged","src":"secret","dst":"tag/office"}}`,
	`{"edge":{"type":"tagged","src":"a","dst":"tag/office"}}`,
	`{"edge":{"type":"tagged","src":"b","dst":"tag/office"}}`,
	`{"edge":{"type":"causes","src":"secret","dst":"a"}}`,
	`{"edge":{"type":"causes","src":"b","dst":"secret"}}`,
	`{"mark":{"node":"b","state":"contradicted","by":"secret"}}`,
}

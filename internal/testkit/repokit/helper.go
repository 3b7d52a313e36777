package repokit

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// By is who and when in tests that do not care.
var By = state.Stamp{Author: "Tess Tester", Time: 1_700_000_000_000_000, Command: []string{"test"}}

// OpenMem returns a repository in memory that is checked at the end of the test.
func OpenMem(t testing.TB) *core.Repo {
	t.Helper()
	r := OverStore(t, AnyStore(t))
	t.Cleanup(func() { CheckClean(t, r) })
	return r
}

// OverStore returns a repository over a store, closed at the end of the test but not checked: the test may damage it.
func OverStore(t testing.TB, st store.Store) *core.Repo {
	t.Helper()
	r, err := care.New(t.Context(), st, By, core.Options{})
	must.OK(t, err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// CheckClean fails the test unless fsck finds nothing wrong.
func CheckClean(t testing.TB, r *core.Repo) {
	t.Helper()
	report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
	if err != nil {
		t.Errorf("fsck: %v", err)
	}
	for _, e := range report.Errors {
		t.Errorf("fsck: %s %s: %s", e.Kind, e.CID, e.Message)
	}
}

// Lines commits change lines.
func Lines(t testing.TB, r *core.Repo, text string) *core.CommitResult {
	t.Helper()
	res, err := TryLines(r, text)
	must.OK(t, err)
	return res
}

// TryLines is Lines, but returns the error.
func TryLines(r *core.Repo, text string) (*core.CommitResult, error) {
	return r.Commit(context.Background(), state.ReadChanges(strings.NewReader(text), "test.jsonl"),
		core.CommitOptions{Stamp: By, Message: "test"})
}

// File commits a file of change lines.
func File(t testing.TB, r *core.Repo, path string) *core.CommitResult {
	t.Helper()
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	res, err := r.Commit(t.Context(), state.ReadChanges(f, path),
		core.CommitOptions{Stamp: By, Message: path})
	must.OK(t, err)
	return res
}

// Head returns the snapshot of HEAD.
func Head(t testing.TB, r *core.Repo) *core.Snapshot {
	t.Helper()
	s, err := r.Snapshot(t.Context(), "HEAD")
	must.OK(t, err)
	return s
}

// Sizes returns the numbers of nodes, edges, marks and embeddings, to be compared at once.
func Sizes(s *core.Snapshot) [4]uint64 {
	n, e, m, v := s.Sizes()
	return [4]uint64{n, e, m, v}
}

// NodeByKey returns a node that the snapshot must have.
func NodeByKey(t testing.TB, s *core.Snapshot, key string) *graph.Node {
	t.Helper()
	n, _, err := s.Node(t.Context(), graph.NodeID(key))
	must.OK(t, err)
	return n
}

// Said returns the text of a message.
func Said(t testing.TB, r *core.Repo, m commit.Message) string {
	t.Helper()
	text, err := r.Message(t.Context(), m)
	must.OK(t, err)
	return text
}

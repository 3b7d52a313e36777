package repokit

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// OverMem returns a repository in memory and its store. It is checked and closed at the end of the test.
func OverMem(t testing.TB) (*core.Repo, *mem.Store) {
	t.Helper()
	st := mem.New()
	r := OverStore(t, st)
	t.Cleanup(func() { CheckClean(t, r) })
	return r, st
}

// Gc collects, keeping the newest keep operations without a grace; 0 is the default number.
func Gc(t testing.TB, r *core.Repo, keep int) *core.GCResult {
	t.Helper()
	res, err := care.GC(context.Background(), r, care.GCOptions{Stamp: By, KeepOps: keep})
	must.OK(t, err)
	return res
}

// Person returns the change line of a numbered node, key pN, without a newline.
func Person(n int) string {
	return fmt.Sprintf(`{"node":{"key":"p%d","type":"Person","summary":"person %d lives"}}`, n, n)
}

// Branch creates a branch at a revision.
func Branch(t testing.TB, r *core.Repo, name, at string) {
	t.Helper()
	_, err := r.Branches().Create(t.Context(), name, at, core.RefOptions{Stamp: By})
	must.OK(t, err)
}

// CommitOn commits change lines to a branch without a message. On gives one and returns the CID.
func CommitOn(t testing.TB, r *core.Repo, branch, text string) *core.CommitResult {
	t.Helper()
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), "x"),
		core.CommitOptions{Stamp: By, Branch: branch})
	must.OK(t, err)
	return res
}

// DropBranch removes a branch even if its commits are on no other.
func DropBranch(t testing.TB, r *core.Repo, name string) {
	t.Helper()
	opt := core.RefOptions{Stamp: By, Force: true}
	if _, err := r.Branches().Remove(t.Context(), name, opt); err != nil {
		t.Fatal(err)
	}
}

package repokit

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/store/mem"
)

// OverMem returns a repository in memory and its store.
func OverMem(t testing.TB) (*core.Repo, *mem.Store) {
	t.Helper()
	st := mem.New()
	r, err := care.New(t.Context(), st, By, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		CheckClean(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, st
}

func Gc(t testing.TB, r *core.Repo, keep int) *core.GCResult {
	t.Helper()
	res, err := care.GC(context.Background(), r, care.GCOptions{Stamp: By, KeepOps: keep})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func Person(n int) string {
	return fmt.Sprintf(`{"node":{"key":"p%d","type":"Person","summary":"person %d lives"}}`, n, n)
}

func Branch(t testing.TB, r *core.Repo, name, at string) {
	t.Helper()
	_, err := r.CreateBranch(t.Context(), name, at, core.RefOptions{Stamp: By})
	if err != nil {
		t.Fatal(err)
	}
}

func CommitOn(t testing.TB, r *core.Repo, branch, text string) *core.CommitResult {
	t.Helper()
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), "x"),
		core.CommitOptions{Stamp: By, Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func DropBranch(t testing.TB, r *core.Repo, name string) {
	t.Helper()
	opt := core.RefOptions{Stamp: By, Force: true}
	if _, err := r.RemoveBranch(t.Context(), name, opt); err != nil {
		t.Fatal(err)
	}
}

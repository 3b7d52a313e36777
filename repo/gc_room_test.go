package repo_test

import (
	"context"
	"testing"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/mem"
)

// roomStore counts how often room was given back.
type roomStore struct {
	*mem.Store
	reclaimed int
}

func (s *roomStore) Reclaim(context.Context) error {
	s.reclaimed++
	return nil
}

// TestGCGivesBackRoom: the store is rewritten where much was removed, and only there.
func TestGCGivesBackRoom(t *testing.T) {
	st := &roomStore{Store: mem.New()}
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for n := range 3 {
		lines(t, r, person(n))
	}
	dry, err := r.GC(t.Context(), repo.GCOptions{Stamp: by, KeepOps: 1, DryRun: true})
	if err != nil || st.reclaimed != 0 {
		t.Errorf("a dry run: %+v, rewritten %d times, %v", dry, st.reclaimed, err)
	}
	var text string
	for n := range 500 {
		text += person(100+n) + "\n"
	}
	branch(t, r, "side", "HEAD")
	commitOn(t, r, "side", text)
	dropBranch(t, r, "side")
	waitForCleanups()
	if res := gc(t, r, 1); res.Blocks < 500 || st.reclaimed != 1 {
		t.Errorf("%+v, rewritten %d times", res, st.reclaimed)
	}
	lines(t, r, text)
	lines(t, r, person(3)) // which leaves an operation and a few tree chunks behind
	if res := gc(t, r, 1); res.Blocks == 0 || st.reclaimed != 1 {
		t.Errorf("little removed: %+v, rewritten %d times", res, st.reclaimed)
	}
}

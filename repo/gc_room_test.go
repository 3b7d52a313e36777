package repo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
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

// lateStore does something else between telling a reader its head and letting it read.
type lateStore struct {
	*mem.Store
	meanwhile func()
}

func (s *lateStore) Head(ctx context.Context) (store.Head, error) {
	head, err := s.Store.Head(ctx)
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do()
	}
	return head, err
}

// TestGCOfWhatIsBeingRead: a reader that is overtaken by commits and a collection of all older
// operations reads the newest. What is damaged stays an error.
func TestGCOfWhatIsBeingRead(t *testing.T) {
	st := &lateStore{Store: mem.New()}
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines(t, r, person(0))
	var newest ipld.CID
	overtake := func() {
		for n := range 3 {
			newest = lines(t, r, person(n+1)).Commit
		}
		gc(t, r, 1)
	}
	st.meanwhile = overtake
	if s := head(t, r); s.CID() != newest {
		t.Errorf("read %s, newest is %s", s.CID(), newest)
	}
	st.meanwhile = overtake
	if _, err := r.Refs(t.Context()); err != nil {
		t.Error(err)
	}
	now, err := st.Head(t.Context())
	if err == nil {
		err = st.Facts().(store.Deleter).Delete(t.Context(), now.Operation)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Snapshot(t.Context(), "HEAD"); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a snapshot without the newest operation: %v", err)
	}
}

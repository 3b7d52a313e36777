package care_test

import (
	"context"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
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

// TestGCGivesBackRoom: the store is rewritten only if much was removed.
func TestGCGivesBackRoom(t *testing.T) {
	st := &roomStore{Store: mem.New()}
	r := repokit.OverStore(t, st)
	for n := range 3 {
		repokit.Lines(t, r, repokit.Person(n))
	}
	dry, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: 1, DryRun: true})
	must.OK(t, err, "a dry run: ", dry, ", rewritten")
	must.Equal(t, st.reclaimed, 0, "a dry run: ", dry, ", rewritten")
	var text string
	for n := range 500 {
		text += repokit.Person(100+n) + "\n"
	}
	repokit.Branch(t, r, "side", "HEAD")
	repokit.CommitOn(t, r, "side", text)
	repokit.DropBranch(t, r, "side")
	waitForCleanups()
	if res := repokit.Gc(t, r, 1); res.Blocks < 500 || st.reclaimed != 1 {
		t.Errorf("%+v, rewritten %d times", res, st.reclaimed)
	}
	repokit.Lines(t, r, text)
	repokit.Lines(t, r, repokit.Person(3)) // which leaves an operation and a few tree chunks behind
	if res := repokit.Gc(t, r, 1); res.Blocks == 0 || st.reclaimed != 1 {
		t.Errorf("little removed: %+v, rewritten %d times", res, st.reclaimed)
	}
}

// lateStore does something else between giving a reader its head and letting it read.
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

// TestGCOfWhatIsBeingRead: a reader overtaken by commits and a collection of all older operations reads the newest.
// Damage remains an error.
func TestGCOfWhatIsBeingRead(t *testing.T) {
	st := &lateStore{Store: mem.New()}
	r := repokit.OverStore(t, st)
	repokit.Lines(t, r, repokit.Person(0))
	var newest ipld.CID
	overtake := func() {
		for n := range 3 {
			newest = repokit.Lines(t, r, repokit.Person(n+1)).Commit
		}
		repokit.Gc(t, r, 1)
	}
	st.meanwhile = overtake
	must.Equal(t, repokit.Head(t, r).CID(), newest, "read")
	st.meanwhile = overtake
	must.Get(r.Refs(t.Context()))(t)
	now, err := st.Head(t.Context())
	if err == nil {
		err = st.Facts().(store.Deleter).Delete(t.Context(), now.Operation)
	}
	must.OK(t, err)
	_, err = r.Snapshot(t.Context(), "HEAD")
	must.Fail(t, err, store.ErrCorrupt)
}

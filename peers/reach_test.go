package peers

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/queue"
	"github.com/mnem-project/mnem/repo"
)

// TestReachInOrder: a command that comes when the repository is free does not have it before one that
// has waited for it.
func TestReachInOrder(t *testing.T) {
	dir := t.TempDir()
	by := repo.Stamp{Author: "Tess", Command: []string{"test"}}
	held, err := repo.Init(t.Context(), dir, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reachOne := func() (*repo.Repo, error) {
		r, client, err := Reach(t.Context(), dir, repo.Options{Wait: time.Minute})
		if client != nil {
			t.Error("an owner that does not answer was connected to")
		}
		return r, err
	}
	for round := range 8 {
		var order []string // of those that had it, each after the one before closed it
		waited := make(chan error, 1)
		go func() {
			r, err := reachOne()
			if err == nil {
				order = append(order, "waited")
				err = r.Close()
			}
			waited <- err
		}()
		for behind := false; !behind; runtime.Gosched() {
			place := queue.Join(repo.QueueFile(dir), 0)
			behind = !place.Turn()
			place.Leave()
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		if held, err = reachOne(); err != nil {
			t.Fatal(err)
		}
		order = append(order, "came")
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(order, []string{"waited", "came"}) {
			t.Fatalf("round %d: %v", round, order)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
}

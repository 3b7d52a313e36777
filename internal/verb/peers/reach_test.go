package peers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/base/queue"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestReachInOrder: a command that comes when the repository is free does not have it before one that
// has waited for it.
func TestReachInOrder(t *testing.T) {
	dir := t.TempDir()
	by := state.Stamp{Author: "Tess", Command: []string{"test"}}
	held, err := care.Init(t.Context(), dir, by, core.Options{})
	must.OK(t, err)
	reachOne := func() (*core.Repo, error) {
		r, client, err := Reach(t.Context(), dir, core.Options{Wait: time.Minute})
		must.True(t, client == nil, "an owner that does not answer was connected to")
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
			place := queue.Join(core.QueueFile(dir), 0)
			behind = !place.Turn()
			place.Leave()
		}
		must.OK(t, held.Close())
		if held, err = reachOne(); err != nil {
			t.Fatal(err)
		}
		order = append(order, "came")
		must.OK(t, <-waited)
		must.Same(t, order, []string{"waited", "came"}, "round ", round)
	}
	must.OK(t, held.Close())
}

// TestKeepEnds has the context of a holder end while the repository is opened, or while another process is found: it
// can be closed, and the repository is free.
func TestKeepEnds(t *testing.T) {
	free := t.TempDir()
	r, err := care.Init(t.Context(), free, state.Stamp{Author: "Tess", Command: []string{"init"}}, core.Options{})
	must.OK(t, err)
	must.OK(t, r.Close())
	held, _, _ := answering(t, HostOptions{Build: "v1"})
	for _, dir := range []string{free, held} {
		ctx, cancel := context.WithCancel(t.Context())
		opt := HostOptions{PID: os.Getpid(), Temp: t.TempDir(), Now: func() time.Time {
			cancel() // asked before it is opened
			return time.Unix(0, 0)
		}}
		h := NewHolder(dir, core.Options{}, opt, func(err error) { t.Error(err) })
		must.OK(t, h.Keep(ctx, func(string, bool) { t.Error("it went on") }))
		closed := make(chan error, 1)
		go func() { closed <- h.Close() }()
		select {
		case err := <-closed:
			must.Fail(t, err, nil)
		case <-time.After(time.Minute):
			t.Fatal("Close waits for a use that nobody ends")
		}
	}
	if r, err = care.Open(free, core.Options{}); err != nil {
		t.Fatal(err)
	}
	must.OK(t, r.Close())
}

// TestCloseIsBounded ends a process although something that it runs does not end: that is left, and the repository is
// closed when it ends.
func TestCloseIsBounded(t *testing.T) {
	dir := t.TempDir()
	r, err := care.Init(t.Context(), dir, state.Stamp{Author: "Tess", Command: []string{"init"}}, core.Options{})
	must.OK(t, err)
	must.OK(t, r.Close())
	opt := HostOptions{PID: os.Getpid(), Temp: t.TempDir()}
	h := NewHolder(dir, core.Options{}, opt, func(err error) { t.Error(err) })
	h.most = time.Millisecond
	u, _, err := h.Reach(t.Context())
	must.OK(t, err)
	must.Fail(t, h.Close(), store.ErrBusy, "Close during a use")
	must.Fail(t, must.Err(care.Open(dir, core.Options{})), store.ErrBusy, "it was closed under the use")
	u.Done(nil)
	if r, err = care.Open(dir, core.Options{Wait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	must.OK(t, r.Close())
}

// TestAnswersLater: a process that cannot write the owner file when it opens the repository, as on a full disk, answers
// others once it can.
func TestAnswersLater(t *testing.T) {
	dir := t.TempDir()
	by := state.Stamp{Author: "Tess", Command: []string{"test"}}
	r := must.Get(care.Init(t.Context(), dir, by, core.Options{}))(t)
	must.OK(t, r.Close())
	inTheWay := filepath.Join(dir, core.DirName, "owner")
	must.OK(t, os.MkdirAll(filepath.Join(inTheWay, "full"), 0o700))
	warned := 0
	h := NewHolder(dir, core.Options{}, HostOptions{PID: os.Getpid(), Temp: t.TempDir()}, func(error) { warned++ })
	u, client, err := h.Reach(t.Context())
	must.Require(t, err == nil && client == nil, "%v %v", client, err)
	u.Done(nil)
	must.True(t, warned == 1, "warned %d times", warned)
	must.OK(t, os.RemoveAll(inTheWay))
	for client == nil { // until the test's time is up
		if client, err = Dial(dir, time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	must.OK(t, errors.Join(client.Close(), h.Close()))
	if left, err := filepath.Glob(filepath.Join(dir, core.DirName, "socket")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

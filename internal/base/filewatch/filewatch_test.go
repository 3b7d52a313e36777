package filewatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func newWatcher(t *testing.T, dirs ...string) *Watcher {
	t.Helper()
	w := must.Get(New())(t)
	t.Cleanup(func() {
		must.OK(t, w.Close())
	})
	if more, err := w.Set(dirs); err != nil || !more {
		t.Fatalf("%v, %v", more, err)
	}
	return w
}

func put(t *testing.T, path string) {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte("text"), 0o600))
}

// TestWait merges many changes into one event, and ignores changes of attributes.
func TestWait(t *testing.T) {
	dir := t.TempDir()
	w := newWatcher(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range 20 {
		put(t, filepath.Join(dir, fmt.Sprint(i)))
	}
	must.OK(t, w.Wait(ctx))
	must.OK(t, os.Chmod(filepath.Join(dir, "1"), 0o640))
	short, stop := context.WithTimeout(t.Context(), 4*quiet)
	defer stop()
	must.Fail(t, w.Wait(short), context.DeadlineExceeded)
}

// TestWaitEnds changes a file continuously: that is reported after a while, too.
func TestWaitEnds(t *testing.T) {
	dir := t.TempDir()
	w := newWatcher(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			_ = os.WriteFile(filepath.Join(dir, "a"), []byte(time.Now().String()), 0o600) // the end removes it
			time.Sleep(quiet / 10)
		}
	}()
	must.OK(t, w.Wait(ctx))
}

// TestSet removes directories and makes them again.
func TestSet(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	w := newWatcher(t, dir)
	for range 2 {
		must.OK(t, os.Mkdir(sub, 0o700))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		must.OK(t, w.Wait(ctx))
		more := must.Get(w.Set([]string{dir, sub, filepath.Join(dir, "absent")}))(t)
		must.Require(t, more, "%v", more)
		put(t, filepath.Join(sub, "a"))
		must.OK(t, w.Wait(ctx))
		must.OK(t, os.RemoveAll(sub))
		must.OK(t, w.Wait(ctx))
	}
	if more, err := w.Set([]string{dir}); err != nil || more {
		t.Errorf("%v, %v", more, err)
	}
}

func TestTooMany(t *testing.T) {
	for _, limit := range []error{syscall.ENOSPC, syscall.EMFILE} {
		err := tooMany(&os.PathError{Op: "add", Err: limit})
		must.True(t, errors.Is(err, ErrTooMany) && errors.Is(err, limit), "%v", err)
	}
	if err := tooMany(syscall.EACCES); errors.Is(err, ErrTooMany) {
		t.Errorf("%v", err)
	}
}

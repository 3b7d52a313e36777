// Package filewatch reports changes below directories, once they have settled. Events do not say what changed; the
// caller has to look.
package filewatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing may change before changes count as settled: editors write a file in several steps,
	// and tools many files in sequence.
	quiet = 300 * time.Millisecond
	// longest is how long a change waits for further ones.
	longest = 5 * time.Second
)

// ErrTooMany is returned if the system cannot watch more directories.
var ErrTooMany = errors.New("the system watches no more directories")

// Watcher watches directories, not recursively.
type Watcher struct {
	sys  *fsnotify.Watcher
	dirs map[string]bool
}

// New returns a watcher without directories. Close must be called.
func New() (*Watcher, error) {
	sys, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, tooMany(err)
	}
	return &Watcher{sys: sys, dirs: make(map[string]bool)}, nil
}

// Close ends the watcher.
func (w *Watcher) Close() error { return w.sys.Close() }

// Set replaces the set of watched directories, and reports whether there are new ones, in which something may have
// changed before. Missing directories are ignored.
func (w *Watcher) Set(dirs []string) (more bool, err error) {
	want := make(map[string]bool, len(dirs))
	for _, dir := range dirs {
		want[dir] = true
	}
	watched := make(map[string]bool)
	for _, dir := range w.sys.WatchList() { // without those that were removed
		watched[dir] = true
	}
	for dir := range w.dirs {
		if !want[dir] || !watched[dir] {
			delete(w.dirs, dir)
			_ = w.sys.Remove(dir) // it was removed, or is no longer watched
		}
	}
	for n, dir := range dirs {
		if w.dirs[dir] {
			continue
		}
		err := w.sys.Add(dir)
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("directory %d of %d, %s: %w", n+1, len(dirs), dir, tooMany(err))
		}
		w.dirs[dir], more = true, true
	}
	return more, nil
}

func tooMany(err error) error {
	if slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE}, func(limit error) bool {
		return errors.Is(err, limit)
	}) {
		return fmt.Errorf("%w: %w", ErrTooMany, err)
	}
	return err
}

// Wait returns when something changed and then settled, or with the error of the context.
func (w *Watcher) Wait(ctx context.Context) error {
	if err := w.next(ctx, nil); err != nil {
		return err
	}
	end := time.NewTimer(longest)
	defer end.Stop()
	for {
		settled := time.NewTimer(quiet)
		err := w.next(ctx, settled.C)
		settled.Stop()
		if errors.Is(err, errSettled) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-end.C:
			return nil
		default:
		}
	}
}

var errSettled = errors.New("settled")

// next waits for one change.
func (w *Watcher) next(ctx context.Context, settled <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-settled:
			return errSettled
		case e, ok := <-w.sys.Events:
			if !ok {
				return fsnotify.ErrClosed
			}
			if e.Op != fsnotify.Chmod { // backups and indexers touch no contents
				return nil
			}
		case err, ok := <-w.sys.Errors:
			if !ok {
				return fsnotify.ErrClosed
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				return nil // events were lost: the caller looks at everything anyway
			}
			return err
		}
	}
}

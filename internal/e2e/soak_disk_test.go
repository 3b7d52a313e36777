//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/layout"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// diskSize is the size of the small disk. With 1 GiB free a store does not look at what is left, so both of
	// its ways to write are taken.
	diskSize = "1200m"
	// fillEvery is how often the disk is filled. It is no multiple of killEvery: some owners are killed, and some
	// begin, while the disk is full.
	fillEvery = 37 * time.Second
	// fillShare is which part of that time the disk stays full.
	fillShare = 4
	// fullRead is the result of a read that was answered while the disk was full.
	fullRead = "ok on a full disk"
)

func (o outcome) String() string {
	return [...]string{"which failed", "acknowledged", "not answered", "refused by a full disk", "stopped"}[o]
}

// fill is one time in which the disk was full.
type fill struct {
	from, to time.Time // to is zero while it lasts
	refused  int       // calls while it was full
	bytes    int64     // that the filler took
}

// place makes the repository, on a small disk if one can be mounted.
func (s *soak) place() {
	dir := s.t.TempDir()
	out, err := exec.CommandContext(s.t.Context(), "mount", "-t", "tmpfs", "-o", "size="+diskSize, "tmpfs",
		dir).CombinedOutput()
	if err != nil {
		s.t.Logf("the disk is never full: no small one can be mounted: %v: %s", err, out)
		s.dir = newRepoIn(s.t, dir)
		return
	}
	s.t.Cleanup(func() {
		ctx := context.WithoutCancel(s.t.Context())
		if out, err := exec.CommandContext(ctx, "umount", "-l", dir).CombinedOutput(); err != nil {
			s.t.Errorf("umount: %v: %s", err, out)
		}
	})
	s.disk, s.dir = dir, filepath.Join(dir, "project")
	must.OK(s.t, os.Mkdir(s.dir, 0o700))
	newRepoIn(s.t, s.dir)
}

// noSpace reports whether an error is the answer to a call that a full disk refused: exit code 1, status 500, or an
// error of a tool, and the reason.
func noSpace(err error) bool {
	if err == nil || !strings.Contains(err.Error(), store.ErrNoRoom.Error()) &&
		!strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		return false
	}
	var exit *exec.ExitError
	var status *statusError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode() == operation.Failed.Exit
	case errors.As(err, &status):
		return status.status == operation.Failed.HTTP
	}
	return true
}

// stopped reports whether a call failed since a write of the store itself did, of what it had accepted before: until
// the store is opened again, which the next call does, all calls fail.
func stopped(err error) bool { return strings.Contains(err.Error(), core.ErrStopped.Error()) }

// fullSince is whether the disk was full at any time since a moment.
func (s *soak) fullSince(began time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fills) == 0 {
		return false
	}
	last := s.fills[len(s.fills)-1]
	return last.to.IsZero() || last.to.After(began)
}

// lastFill says when the disk was full last.
func (s *soak) lastFill() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fills) == 0 {
		return "the disk was not full yet"
	}
	last := s.fills[len(s.fills)-1]
	if last.to.IsZero() {
		return fmt.Sprintf("the disk is full since %v", time.Since(last.from))
	}
	return fmt.Sprintf("the disk was full for %v until %v ago", last.to.Sub(last.from), time.Since(last.to))
}

// refusals is how many calls a full disk has refused.
func (s *soak) refusals() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.ledger {
		if e.outcome == full || e.outcome == halted {
			n++
		}
	}
	return n
}

// fill fills the disk every so often and frees it again, until done.
func (s *soak) fill(every time.Duration, done <-chan struct{}) {
	if s.disk == "" {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			must.OK(s.t, s.occupy(every/fillShare), "fill the disk")
		}
	}
}

// occupy takes all space of the disk for a time, and until a write was refused, at most four times as long. Space that
// is freed later is taken too.
func (s *soak) occupy(hold time.Duration) (err error) {
	name := filepath.Join(s.disk, "filler")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	before, began := s.refusals(), time.Now()
	s.mu.Lock()
	s.fills = append(s.fills, fill{from: began})
	s.mu.Unlock()
	size := int64(0)
	for took := time.Duration(0); err == nil &&
		(took < hold || took < 4*hold && s.refusals() == before); took = time.Since(began) {
		size, err = grow(f, size)
		time.Sleep(100 * time.Millisecond)
	}
	// A process that was just forked may have the file open for a while: its end alone frees nothing.
	err = errors.Join(err, f.Truncate(0), f.Close(), os.Remove(name))
	refused := s.refusals() - before
	s.mu.Lock()
	defer s.mu.Unlock()
	last := &s.fills[len(s.fills)-1]
	last.to, last.refused, last.bytes = time.Now(), refused, size
	return err
}

// grow takes the space that is left for a file of a size, and returns its new one.
func grow(f *os.File, size int64) (int64, error) {
	for step := int64(64 << 20); step >= 4096; {
		err := syscall.Fallocate(int(f.Fd()), 0, size, step)
		switch {
		case err == nil:
			size += step
		case errors.Is(err, syscall.ENOSPC):
			step /= 2
		case !errors.Is(err, syscall.EINTR):
			return size, err
		}
	}
	return size, nil
}

// logFills says how often the disk was full, and fails if that refused nothing.
func (s *soak) logFills() {
	if s.disk == "" {
		return
	}
	all := 0
	for _, f := range s.fills {
		all += f.refused
		s.t.Logf("full for %v, %d MiB taken: %d calls were refused", f.to.Sub(f.from).Round(time.Millisecond),
			f.bytes>>20, f.refused)
	}
	s.t.Logf("%d times full, %d calls refused", len(s.fills), all)
	must.True(s.t, all > 0, "a full disk refused nothing")
	must.True(s.t, s.counts["http read "+fullRead] != 0, "nothing was read on a full disk")
}

// checkFiles sees to it that the table of files knows what is below .mnem.
func (s *soak) checkFiles() {
	root, files := filepath.Join(s.dir, ".mnem"), 0
	var bytes int64
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if _, known := layout.Of(filepath.ToSlash(name)); !known {
			s.t.Errorf("internal/layout does not know %s", name)
		}
		info, err := d.Info()
		if err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
		return err
	})
	must.True(s.t, err == nil && files != 0, "files below .mnem: %d, %v", files, err)
	s.t.Logf("%d files below .mnem, %d MiB", files, bytes>>20)
}

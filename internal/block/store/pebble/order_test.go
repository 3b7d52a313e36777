package pebble

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/base/queue"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestNewcomersWait: a process that arrives when the lock is free gets it after those that already wait, even if
// they are pausing at that moment.
func TestNewcomersWait(t *testing.T) {
	const rounds = 8
	dir := t.TempDir()
	opts := Options{Create: true, Wait: time.Minute}
	open := func() *Store {
		s, err := Open(dir, opts)
		must.OK(t, err)
		return s
	}
	held := open()
	file := filepath.Join(dir, QueueName)
	if info, err := os.Stat(file); err != nil || info.Size() != 0 || info.Mode().Perm()&0o077 != 0 {
		t.Fatalf("the queue: %v %v", info, err)
	}
	for round := range rounds {
		var order []string // in which processes had the store; each opened it after the previous one closed it
		waited := make(chan error, 1)
		go func() {
			s, err := Open(dir, opts)
			if err == nil {
				order = append(order, "waited")
				err = s.Close()
			}
			waited <- err
		}()
		for behind := false; !behind; runtime.Gosched() {
			place := queue.Join(file, 0)
			behind = !place.Turn()
			place.Leave()
		}
		must.OK(t, held.Close())
		held = open()
		order = append(order, "came")
		must.OK(t, <-waited)
		if !slices.Equal(order, []string{"waited", "came"}) {
			t.Fatalf("round %d: %v", round, order)
		}
	}
	must.OK(t, held.Close())
}

// TestNoQueueOffDisk: on file systems other than the disk there is no queue, and the lock alone decides.
func TestNoQueueOffDisk(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open("store", Options{Create: true, FS: fs, Wait: time.Minute})
	must.OK(t, err)
	if _, err := fs.Stat(fs.PathJoin("store", QueueName)); err == nil {
		t.Error("there is a queue")
	}
	must.OK(t, s.Close())
}

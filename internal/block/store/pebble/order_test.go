package pebble

import (
	"os"
	"path/filepath"
	"runtime"
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
	open := func() *Store { return must.Get(Open(dir, opts))(t) }
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
		must.Same(t, order, []string{"waited", "came"}, "round ", round)
	}
	must.OK(t, held.Close())
}

// TestNoQueueOffDisk: on file systems other than the disk there is no queue, and the lock alone decides.
func TestNoQueueOffDisk(t *testing.T) {
	fs := vfs.NewMem()
	s := must.Get(Open("store", Options{Create: true, FS: fs, Wait: time.Minute}))(t)
	must.Check(t, must.Err(fs.Stat(fs.PathJoin("store", QueueName))) != nil, "there is a queue")
	must.OK(t, s.Close())
}

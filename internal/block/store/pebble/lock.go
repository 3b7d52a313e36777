package pebble

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"runtime"
	"time"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/base/queue"
	"github.com/mnem-project/mnem/internal/block/store"
)

const (
	ownerName = "owner"
	// QueueName is the file in which processes queue for the lock.
	QueueName = "queue"
	// maxOwner bounds how much of an owner file is read; a written one has about 100 bytes.
	maxOwner = 4096
)

// Owner says who has a store open.
type Owner struct {
	PID      int    `json:"pid"`
	Since    string `json:"since"`            // when the process started, RFC 3339
	Protocol int    `json:"protocol"`         // version of the protocol spoken on Socket
	Socket   string `json:"socket,omitempty"` // path of a server's socket
}

// BusyError is returned by Open when another owner did not release the store in time. errors.Is(err, store.ErrBusy)
// holds.
type BusyError struct {
	PID    int    // the owner's process, 0 if unknown
	Since  string // when it started, "" if unknown
	Socket string // its server's socket, "" if it has none
	Err    error  // what locking returned
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("repository is busy: its lock is taken: %v", e.Err)
	}
	return fmt.Sprintf("repository is busy: process %d has it open since %s", e.PID, e.Since)
}

// Is reports whether target is store.ErrBusy.
func (e *BusyError) Is(target error) bool { return target == store.ErrBusy }

// Unwrap returns what locking returned.
func (e *BusyError) Unwrap() error { return e.Err }

// lockDB locks the database db of the store in dir, waiting as the options say.
func lockDB(fs vfs.FS, dir, db string, opts *Options) (*pdb.Lock, error) {
	timeout := time.NewTimer(opts.Wait)
	defer timeout.Stop()
	place := queue.Alone(opts.Owner.PID)
	if opts.Wait > 0 && opts.FS == nil {
		place = queue.Join(filepath.Join(dir, QueueName), opts.Owner.PID)
		defer place.Leave()
	}
	for wait := opts.Wait > 0; ; {
		if wait && !place.Turn() {
			wait = pause(place.Pause(), timeout)
			continue // after the timeout, one last attempt remains
		}
		lock, err := pdb.LockDirectory(db, fs)
		if err == nil {
			return lock, nil
		}
		if !isBusy(err) {
			return nil, fmt.Errorf("lock store: %w", err)
		}
		if wait {
			wait = pause(place.Pause(), timeout)
			continue
		}
		owner, oerr := ReadOwner(dir, fs)
		if oerr != nil {
			opts.Logf("reading the owner of a busy store: %v", oerr)
		}
		return nil, &BusyError{PID: owner.PID, Since: owner.Since, Socket: owner.Socket, Err: err}
	}
}

// pause waits for d and returns true, or returns false at the timeout.
func pause(d time.Duration, timeout *time.Timer) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-timeout.C:
		return false
	}
}

// isBusy distinguishes a lock that is taken from one that cannot be taken. On Unix the file is opened first, which
// fails with a PathError, and then locked; there EACCES also means taken. Windows does both in one call.
func isBusy(err error) bool {
	var path *iofs.PathError
	switch {
	case errors.As(err, &path), errors.Is(err, iofs.ErrNotExist):
		return false
	case runtime.GOOS == "windows":
		return !errors.Is(err, iofs.ErrPermission)
	}
	return true
}

// ReadOwner reads the owner file of the store in dir; fs nil is the disk. A missing or unreadable file yields the
// zero Owner and says nothing about the lock; the error is for diagnosis.
func ReadOwner(dir string, fs vfs.FS) (Owner, error) {
	if fs == nil {
		fs = vfs.Default
	}
	f, err := fs.Open(fs.PathJoin(dir, ownerName))
	if errors.Is(err, iofs.ErrNotExist) {
		return Owner{}, nil
	}
	if err != nil {
		return Owner{}, fmt.Errorf("read owner file: %w", err)
	}
	defer f.Close()
	var o Owner
	b, err := io.ReadAll(io.LimitReader(f, maxOwner))
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return Owner{}, fmt.Errorf("read owner file: %w", err)
	}
	return o, nil
}

// writeOwner writes the owner file. It is not made durable: it is meaningless after a crash.
func writeOwner(fs vfs.FS, dir string, o Owner) error {
	b, _ := json.Marshal(o) // texts and numbers have a JSON form
	f, err := fs.Create(fs.PathJoin(dir, ownerName), vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(append(b, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write owner file: %w", err)
	}
	return nil
}

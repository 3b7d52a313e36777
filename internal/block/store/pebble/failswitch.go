package pebble

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
)

// ErrStopped is returned by every call on a store after Pebble could not continue, usually because a write failed.
// The error wraps the cause too. Closing and reopening the store recovers.
var ErrStopped = errors.New("store stopped")

// failSwitch makes every change of the disk fail after the first fatal error. It trips once.
type failSwitch struct {
	once    sync.Once
	tripped chan struct{} // closed when it trips
	cause   error         // set before tripped is closed
	busy    sync.RWMutex  // read-held by each operation that changes the disk

	// removing counts file removals in progress: a file's name disappears before its space is free.
	removing atomic.Int64

	haltOnce sync.Once
	halted   chan struct{} // closed when the first goroutine halts
}

func newFailSwitch() *failSwitch {
	return &failSwitch{tripped: make(chan struct{}), halted: make(chan struct{})}
}

// halt trips the switch and blocks forever.
func (f *failSwitch) halt(cause error) {
	f.trip(cause)
	f.haltOnce.Do(func() { close(f.halted) })
	select {}
}

// trip makes every later change of the disk fail with cause. Changes in progress may still finish.
func (f *failSwitch) trip(cause error) {
	f.once.Do(func() {
		f.cause = fmt.Errorf("%w: %w", ErrStopped, cause)
		close(f.tripped)
	})
}

// err returns nil until the switch has tripped.
func (f *failSwitch) err() error {
	select {
	case <-f.tripped:
		return f.cause
	default:
		return nil
	}
}

// settle waits until no change of the disk is in progress.
func (f *failSwitch) settle() {
	f.busy.Lock()
	defer f.busy.Unlock()
}

// run runs op, a change of the disk, unless the switch has tripped.
func (f *failSwitch) run(op func() error) error {
	f.busy.RLock()
	defer f.busy.RUnlock()
	if err := f.err(); err != nil {
		return err
	}
	return op()
}

// guard runs fn, a use of Pebble, on its own goroutine and returns its error. If the switch trips first, guard
// returns that error at once and abandons fn. A panic of fn trips the switch: Pebble may then hold locks, and must
// not be called again.
func (f *failSwitch) guard(fn func() error) error {
	if err := f.err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if r := recover(); r != nil {
				f.trip(&panicError{r})
			}
			done <- err
		}()
		err = fn()
	}()
	select {
	case err := <-done:
		if tripped := f.err(); tripped != nil {
			return tripped
		}
		return err
	case <-f.tripped:
		return f.cause
	}
}

// commitError returns the error of a commit that was begun. If the store stopped, its batch may be in a log, in
// part or whole: the next opening finds out.
func commitError(next store.Head, err error) error {
	if errors.Is(err, ErrStopped) {
		err = fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	return fmt.Errorf("commit operation %d: %w", next.Seq, err)
}

// panicError is a panic of Pebble.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Unwrap returns the error Pebble panicked with, if it was one.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// rescue turns a panic r recovered from a read into an error: Pebble panics on some damage that its checksums miss.
func rescue(r any, err *error) {
	if r != nil {
		*err = fmt.Errorf("%w: %w", store.ErrCorrupt, &panicError{r})
	}
}

// failFS is a file system behind a failSwitch. Reads pass through.
type failFS struct {
	vfs.FS
	fail *failSwitch
	// halts makes a failed change trip the switch and block its goroutine. Pebble itself would retry forever, or
	// panic in a way that no recover prevents from ending the process (it unlocks an unlocked mutex when a log
	// cannot be rotated).
	halts  bool
	yields bool       // whether a full disk is reported to the caller instead
	lock   closerOnce // of the database, once it is taken
	// logs, if not nil, collects the names of the logs opened for reading.
	logs *sync.Map
}

// Open opens a file for reading.
func (fs *failFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if fs.logs != nil && strings.HasSuffix(name, logSuffix) {
		fs.logs.Store(fs.PathBase(name), true)
	}
	return fs.FS.Open(name, opts...)
}

// GetDiskUsage reports to Pebble that nothing is free if the disk is nearly full: Pebble enlarges compactions by up to
// half of the free space.
func (fs *failFS) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	usage, err := fs.FS.GetDiskUsage(path)
	if fs.halts && usage.AvailBytes < plenty {
		usage.AvailBytes = 0
	}
	return usage, err
}

// compactionFiles is the write category of tables that compactions write.
const compactionFiles = vfs.DiskWriteCategory("pebble-compaction")

// change runs op, a change of the disk.
func (fs *failFS) change(op func() error) error {
	err := fs.fail.run(op)
	if err != nil && fs.halts && !(fs.yields && isFull(err)) {
		fs.fail.halt(err)
	}
	return err
}

func (fs *failFS) file(open func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	err := fs.change(func() (err error) {
		f, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &failFile{File: f, fs: fs}, nil
}

// yielding returns a file system on which a full disk fails a change without stopping the store. Pebble then gives
// up the compaction.
func (fs *failFS) yielding() *failFS {
	y := *fs
	y.yields = true
	return &y
}

// Create makes a file. Before it makes one of Pebble's markers, whose name points to a file, it makes that file's
// own directory entry durable: on a file system that does not order entries, a power cut may keep only the marker.
func (fs *failFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if c == compactionFiles && !fs.yields {
		return fs.yielding().Create(name, c)
	}
	return fs.file(func() (vfs.File, error) {
		if strings.HasPrefix(fs.PathBase(name), "marker.") {
			if err := syncDir(fs.FS, fs.PathDir(name)); err != nil {
				return nil, err
			}
		}
		return fs.FS.Create(name, c)
	})
}

func (fs *failFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

// ReuseForWrite makes a new file and removes the old one, as its contract allows. A reused log would keep the size
// and bytes of its former contents. A log that cannot be removed is harmless: it is obsolete, and Pebble removes it
// at the next opening.
func (fs *failFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	_ = fs.Remove(oldname)
	return fs.Create(newname, c)
}

// OpenDir opens a directory, only to sync it. Opening changes nothing, so it works after the switch has tripped.
func (fs *failFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &failFile{File: f, fs: fs}, nil
}

func (fs *failFS) Link(oldname, newname string) error {
	return fs.change(func() error { return fs.FS.Link(oldname, newname) })
}

func (fs *failFS) Rename(oldname, newname string) error {
	return fs.change(func() error { return fs.FS.Rename(oldname, newname) })
}

func (fs *failFS) MkdirAll(dir string, perm os.FileMode) error {
	return fs.change(func() error { return fs.FS.MkdirAll(dir, perm) })
}

// Remove never halts: a leftover file is harmless.
func (fs *failFS) Remove(name string) error {
	fs.fail.removing.Add(1)
	defer fs.fail.removing.Add(-1)
	return fs.fail.run(func() error { return fs.FS.Remove(name) })
}

// RemoveAll never halts, like Remove.
func (fs *failFS) RemoveAll(name string) error {
	return fs.fail.run(func() error { return fs.FS.RemoveAll(name) })
}

// Lock remembers the lock, so that it can be released if Pebble cannot close any more.
func (fs *failFS) Lock(name string) (io.Closer, error) {
	c, err := fs.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	fs.lock = sync.OnceValue(c.Close)
	return fs.lock, nil
}

func (fs *failFS) Unwrap() vfs.FS { return fs.FS }

// closerOnce closes at most once, for any number of callers.
type closerOnce func() error

func (c closerOnce) Close() error { return c() }

type failFile struct {
	vfs.File
	fs *failFS
}

func (f *failFile) Write(p []byte) (n int, err error) {
	err = f.fs.change(func() error {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f *failFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.fs.change(func() error {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, err
}

// maxPreallocate bounds one preallocation. Pebble preallocates more than a memtable for each log, 18 MB of disk for
// an empty store, and gains nothing: syncs write the file's size anyway.
const maxPreallocate = 256 << 10

// Preallocate never halts: it is only a hint.
func (f *failFile) Preallocate(offset, length int64) error {
	length = min(length, maxPreallocate)
	return f.fs.fail.run(func() error { return f.File.Preallocate(offset, length) })
}

func (f *failFile) Sync() error { return f.fs.change(f.File.Sync) }

func (f *failFile) SyncData() error { return f.fs.change(f.File.SyncData) }

func (f *failFile) SyncTo(length int64) (full bool, err error) {
	err = f.fs.change(func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

// logger replaces Pebble's, whose Fatalf ends the process.
type logger struct {
	fail *failSwitch
	logf func(format string, args ...any)
}

func (l *logger) Infof(string, ...any) {}

func (l *logger) Errorf(format string, args ...any) { l.logf(format, args...) }

// Fatalf trips the switch and returns. Pebble expects that it does not return. Continuing is safe because nothing
// that Pebble does then reaches the disk, and every caller checks the switch before it trusts an answer.
func (l *logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err = &fatalError{text: err.Error(), cause: cause}
		}
	}
	l.logf("pebble stopped: %v", err)
	l.fail.trip(marked(err))
}

// fatalError holds the cause that Pebble formatted into its message.
type fatalError struct {
	text  string
	cause error
}

func (e *fatalError) Error() string { return e.text }

func (e *fatalError) Unwrap() error { return e.cause }

// listener replaces Pebble's, whose DataCorruption ends the process.
func listener(f *failSwitch, g *gate, logf func(format string, args ...any)) *pdb.EventListener {
	// Pebble retries a failed flush forever, and its waiters would hang. FlushEnd also reports flushes that had nothing
	// to do as failed; only one that BackgroundError reports too is a failure. Both are called under Pebble's mutex.
	var flushed error
	return &pdb.EventListener{
		DataCorruption: func(info pdb.DataCorruptionInfo) { logf("corrupt: %s", info) },
		FlushEnd:       func(info pdb.FlushInfo) { flushed = info.Err },
		BackgroundError: func(err error) {
			logf("in the background: %v", err)
			if isFull(err) {
				g.set(false) // otherwise Pebble would retry the same compaction forever
			}
			if flushed != nil && errors.Is(err, flushed) {
				f.trip(fmt.Errorf("flush: %w", marked(err)))
			}
		},
	}
}

// marked returns err, also wrapping store.ErrCorrupt if Pebble calls it a corruption.
func marked(err error) error {
	if err != nil && pdb.IsCorruptionError(err) {
		return corrupt(err)
	}
	return err
}

// corrupt returns err, also wrapping store.ErrCorrupt.
func corrupt(err error) error {
	return fmt.Errorf("%w: %w", store.ErrCorrupt, quietError{err})
}

// detailNoise is added to an error's text by Pebble's carrier of details. It carries no information.
const detailNoise = "\n<corruption detail carrier>"

// quietError is an error of Pebble without the noise in its text.
type quietError struct{ err error }

func (e quietError) Error() string { return strings.ReplaceAll(e.err.Error(), detailNoise, "") }
func (e quietError) Unwrap() error { return e.err }

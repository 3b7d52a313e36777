package pebble

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
)

// ErrStopped is returned by every call on a store after Pebble could not go on, usually because a
// write failed. The error wraps the cause too. Closing and opening the store recovers.
var ErrStopped = errors.New("store stopped")

// fuse cuts a store off from its disk. It blows once.
type fuse struct {
	once  sync.Once
	blown chan struct{} // closed when it blows
	cause error         // set before blown is closed
	busy  sync.RWMutex  // read-held by each operation that changes the disk

	// removing is how many files are being removed: the name of one is gone before its room is free.
	removing atomic.Int64

	parkOnce sync.Once
	parked   chan struct{} // closed when the first goroutine is parked
}

func newFuse() *fuse {
	return &fuse{blown: make(chan struct{}), parked: make(chan struct{})}
}

// park blows the fuse and never returns.
func (f *fuse) park(cause error) {
	f.blow(cause)
	f.parkOnce.Do(func() { close(f.parked) })
	select {}
}

// blow makes every later change of the disk fail with cause. Changes under way may still end.
func (f *fuse) blow(cause error) {
	f.once.Do(func() {
		f.cause = fmt.Errorf("%w: %w", ErrStopped, cause)
		close(f.blown)
	})
}

// err returns nil until the fuse has blown.
func (f *fuse) err() error {
	select {
	case <-f.blown:
		return f.cause
	default:
		return nil
	}
}

// settle waits until no change of the disk is under way.
func (f *fuse) settle() {
	f.busy.Lock()
	defer f.busy.Unlock()
}

// run runs op, a change of the disk, unless the fuse has blown.
func (f *fuse) run(op func() error) error {
	f.busy.RLock()
	defer f.busy.RUnlock()
	if err := f.err(); err != nil {
		return err
	}
	return op()
}

// guard runs fn, a use of Pebble, on a goroutine of its own, and returns its error; or the fuse's
// as soon as that blows, leaving fn behind. A panic of fn blows the fuse: Pebble may hold locks
// then, and must not be called again.
func (f *fuse) guard(fn func() error) error {
	if err := f.err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if r := recover(); r != nil {
				f.blow(&panicError{r})
			}
			done <- err
		}()
		err = fn()
	}()
	select {
	case err := <-done:
		if blown := f.err(); blown != nil {
			return blown
		}
		return err
	case <-f.blown:
		return f.cause
	}
}

// commitError is the error of a commit that was begun. If the store stopped, its batch may be in a log, in part or
// whole: the next opening finds out.
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

// rescue turns the recovered panic r of a read into an error: Pebble panics on some damage that
// its checksums do not catch.
func rescue(r any, err *error) {
	if r != nil {
		*err = fmt.Errorf("%w: %w", store.ErrCorrupt, &panicError{r})
	}
}

// fuseFS is a file system behind a fuse. Reading goes straight through.
type fuseFS struct {
	vfs.FS
	fuse *fuse
	// parks makes a failed change blow the fuse and park its goroutine. So it is for Pebble,
	// which answers such a failure by retrying without end, or by a panic that ends the process
	// whoever recovers (it unlocks a mutex that is not locked, when a log cannot be rotated).
	parks  bool
	yields bool        // whether a full disk is the caller's business
	lock   *onceCloser // of the database, once it was taken
	// logs, if not nil, collects the names of the logs that are opened for reading.
	logs *logsRead
}

// logsRead are the logs that opening a database replayed.
type logsRead struct {
	mu    sync.Mutex
	names map[string]bool
}

// Open opens a file for reading.
func (fs *fuseFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if fs.logs != nil && strings.HasSuffix(name, logSuffix) {
		fs.logs.mu.Lock()
		defer fs.logs.mu.Unlock()
		fs.logs.names[fs.PathBase(name)] = true
	}
	return fs.FS.Open(name, opts...)
}

// GetDiskUsage tells Pebble of a disk that is nearly full that nothing is free: it makes compactions larger
// where they may be, by as much as half of that.
func (fs *fuseFS) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	usage, err := fs.FS.GetDiskUsage(path)
	if fs.parks && usage.AvailBytes < plenty {
		usage.AvailBytes = 0
	}
	return usage, err
}

// compactionFiles is the category of the tables that compactions write.
const compactionFiles = vfs.DiskWriteCategory("pebble-compaction")

// change runs op, a change of the disk.
func (fs *fuseFS) change(op func() error) error {
	err := fs.fuse.run(op)
	if err != nil && fs.parks && !(fs.yields && isFull(err)) {
		fs.fuse.park(err)
	}
	return err
}

func (fs *fuseFS) file(open func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	err := fs.change(func() (err error) {
		f, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &fuseFile{File: f, fs: fs}, nil
}

// yielding returns a file system whose changes fail without stopping the store if the disk is full, for
// a compaction, which Pebble gives up then.
func (fs *fuseFS) yielding() *fuseFS {
	y := *fs
	y.yields = true
	return &y
}

// Create makes a file. Before one of Pebble's markers, whose name points to a file, it makes sure
// that the file's own directory entry is durable: a power cut may keep the marker alone, where
// a file system does not keep the order of entries.
func (fs *fuseFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
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

func (fs *fuseFS) OpenReadWrite(
	name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption,
) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

// ReuseForWrite makes a new file and removes the old one, which its contract allows. A log that is
// used again keeps the size and the bytes of what was in it. One that cannot be removed does no harm: it
// is obsolete, and Pebble removes it when it is opened next.
func (fs *fuseFS) ReuseForWrite(
	oldname, newname string, c vfs.DiskWriteCategory,
) (vfs.File, error) {
	_ = fs.Remove(oldname)
	return fs.Create(newname, c)
}

// OpenDir opens a directory, whose only use is to be synced. Opening changes nothing, so it works
// after the fuse has blown.
func (fs *fuseFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &fuseFile{File: f, fs: fs}, nil
}

func (fs *fuseFS) Link(oldname, newname string) error {
	return fs.change(func() error { return fs.FS.Link(oldname, newname) })
}

func (fs *fuseFS) Rename(oldname, newname string) error {
	return fs.change(func() error { return fs.FS.Rename(oldname, newname) })
}

func (fs *fuseFS) MkdirAll(dir string, perm os.FileMode) error {
	return fs.change(func() error { return fs.FS.MkdirAll(dir, perm) })
}

// Remove never parks: what should be gone and is not does no harm.
func (fs *fuseFS) Remove(name string) error {
	fs.fuse.removing.Add(1)
	defer fs.fuse.removing.Add(-1)
	return fs.fuse.run(func() error { return fs.FS.Remove(name) })
}

// RemoveAll never parks, as Remove.
func (fs *fuseFS) RemoveAll(name string) error {
	return fs.fuse.run(func() error { return fs.FS.RemoveAll(name) })
}

// Lock keeps the lock at hand, for a store that Pebble cannot close any more.
func (fs *fuseFS) Lock(name string) (io.Closer, error) {
	c, err := fs.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	fs.lock = &onceCloser{Closer: c}
	return fs.lock, nil
}

func (fs *fuseFS) Unwrap() vfs.FS { return fs.FS }

// onceCloser closes once, whoever does it.
type onceCloser struct {
	io.Closer
	once sync.Once
	err  error
}

func (c *onceCloser) Close() error {
	c.once.Do(func() { c.err = c.Closer.Close() })
	return c.err
}

// fuseFile is a file behind a fuse.
type fuseFile struct {
	vfs.File
	fs *fuseFS
}

func (f *fuseFile) Write(p []byte) (n int, err error) {
	err = f.fs.change(func() error {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f *fuseFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.fs.change(func() error {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, err
}

// maxPreallocate bounds what is reserved at once. Pebble reserves more than a memtable for each
// log, 18 MB of disk for an empty store, and gains nothing: syncs write the file's size anyway.
const maxPreallocate = 256 << 10

// Preallocate never parks: it is an advice.
func (f *fuseFile) Preallocate(offset, length int64) error {
	length = min(length, maxPreallocate)
	return f.fs.fuse.run(func() error { return f.File.Preallocate(offset, length) })
}

func (f *fuseFile) Sync() error { return f.fs.change(f.File.Sync) }

func (f *fuseFile) SyncData() error { return f.fs.change(f.File.SyncData) }

func (f *fuseFile) SyncTo(length int64) (full bool, err error) {
	err = f.fs.change(func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

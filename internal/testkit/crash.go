// Package testkit holds helpers for tests of what reaches the disk: a file system that shows, at
// each change, what a power cut at that moment would leave.
package testkit

import (
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Op is one change of a file system.
type Op struct {
	N    int    // number of the change, from 1
	Kind string // the method's name in lower case
	Path string
}

// CrashFS is a file system in memory that calls a hook before each change, and can be cloned as
// a power cut would leave it. Safe for concurrent use. Changes of several goroutines are numbered
// in the order they come, which may differ between runs.
type CrashFS struct {
	vfs.FS
	mem *vfs.MemFS

	mu   sync.Mutex // held while the hook runs
	hook func(Op) error
	n    atomic.Int64
}

// NewCrashFS returns a file system over mem, which must be crashable; nil is an empty one. hook, which may be nil, is
// called before each write, sync, creation, renaming, linking and removal, by the goroutine that makes it; calls do not
// overlap. An error of hook takes the place of the change. hook must not change the file system.
func NewCrashFS(mem *vfs.MemFS, hook func(Op) error) *CrashFS {
	if mem == nil {
		mem = vfs.NewCrashableMem()
	}
	return &CrashFS{FS: mem, mem: mem, hook: hook}
}

// Ops returns how many changes there were.
func (c *CrashFS) Ops() int { return int(c.n.Load()) }

// Clone returns what a power cut now would leave: everything synced, and of the rest each page
// and directory entry with a probability of percent, by rng, which may be nil for 0.
func (c *CrashFS) Clone(percent int, rng *rand.Rand) *vfs.MemFS {
	return c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
}

func (c *CrashFS) before(kind, path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	op := Op{N: int(c.n.Add(1)), Kind: kind, Path: path}
	if c.hook == nil {
		return nil
	}
	return c.hook(op)
}

func (c *CrashFS) file(kind, path string, open func() (vfs.File, error)) (vfs.File, error) {
	if kind != "" {
		if err := c.before(kind, path); err != nil {
			return nil, err
		}
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return &crashFile{File: f, fs: c, path: path}, nil
}

// Create implements vfs.FS.
func (c *CrashFS) Create(name string, w vfs.DiskWriteCategory) (vfs.File, error) {
	return c.file("create", name, func() (vfs.File, error) { return c.FS.Create(name, w) })
}

// OpenReadWrite implements vfs.FS. It counts as a change, as it may make the file.
func (c *CrashFS) OpenReadWrite(
	name string, w vfs.DiskWriteCategory, opts ...vfs.OpenOption,
) (vfs.File, error) {
	return c.file("openreadwrite", name, func() (vfs.File, error) { return c.FS.OpenReadWrite(name, w, opts...) })
}

// OpenDir implements vfs.FS.
func (c *CrashFS) OpenDir(name string) (vfs.File, error) {
	return c.file("", name, func() (vfs.File, error) { return c.FS.OpenDir(name) })
}

// ReuseForWrite implements vfs.FS.
func (c *CrashFS) ReuseForWrite(
	oldname, newname string, w vfs.DiskWriteCategory,
) (vfs.File, error) {
	return c.file("reuseforwrite", newname, func() (vfs.File, error) { return c.FS.ReuseForWrite(oldname, newname, w) })
}

// change runs op after the hook.
func (c *CrashFS) change(kind, path string, op func() error) error {
	if err := c.before(kind, path); err != nil {
		return err
	}
	return op()
}

// Link implements vfs.FS.
func (c *CrashFS) Link(oldname, newname string) error {
	return c.change("link", newname, func() error { return c.FS.Link(oldname, newname) })
}

// Remove implements vfs.FS.
func (c *CrashFS) Remove(name string) error {
	return c.change("remove", name, func() error { return c.FS.Remove(name) })
}

// RemoveAll implements vfs.FS.
func (c *CrashFS) RemoveAll(name string) error {
	return c.change("removeall", name, func() error { return c.FS.RemoveAll(name) })
}

// Rename implements vfs.FS.
func (c *CrashFS) Rename(oldname, newname string) error {
	return c.change("rename", newname, func() error { return c.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (c *CrashFS) MkdirAll(dir string, perm os.FileMode) error {
	return c.change("mkdirall", dir, func() error { return c.FS.MkdirAll(dir, perm) })
}

// Lock implements vfs.FS.
func (c *CrashFS) Lock(name string) (io.Closer, error) {
	if err := c.before("lock", name); err != nil {
		return nil, err
	}
	return c.FS.Lock(name)
}

// Unwrap implements vfs.FS.
func (c *CrashFS) Unwrap() vfs.FS { return c.FS }

// crashFile is a file of a CrashFS.
type crashFile struct {
	vfs.File
	fs   *CrashFS
	path string
}

func (f *crashFile) Write(p []byte) (n int, err error) {
	err = f.fs.change("write", f.path, func() error {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f *crashFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.fs.change("writeat", f.path, func() error {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, err
}

func (f *crashFile) Sync() error { return f.fs.change("sync", f.path, f.File.Sync) }

func (f *crashFile) SyncData() error { return f.fs.change("syncdata", f.path, f.File.SyncData) }

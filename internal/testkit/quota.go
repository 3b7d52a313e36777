package testkit

import (
	"os"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// quotaPage is the unit to which the size of a file is rounded up, as file systems in memory do.
const quotaPage = 4096

// QuotaFS is a file system whose files together take no more than so many bytes: a write beyond that is
// cut short and fails with ENOSPC. Safe for concurrent use.
type QuotaFS struct {
	vfs.FS

	mu    sync.Mutex
	quota int64
	used  int64
	files map[string]*quotaFile
}

type quotaFile struct{ size int64 }

func pages(size int64) int64 { return (size + quotaPage - 1) / quotaPage * quotaPage }

// NewQuotaFS returns a file system over fs, which must be empty.
func NewQuotaFS(fs vfs.FS, quota int64) *QuotaFS {
	return &QuotaFS{FS: fs, quota: quota, files: make(map[string]*quotaFile)}
}

// Grow changes the quota, as other users of a disk do who remove files, or write some.
func (q *QuotaFS) Grow(bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.quota += bytes
}

// Free returns how many bytes are free.
func (q *QuotaFS) Free() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return max(0, q.quota-q.used)
}

// GetDiskUsage implements vfs.FS.
func (q *QuotaFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return vfs.DiskUsage{
		AvailBytes: uint64(max(0, q.quota-q.used)), TotalBytes: uint64(q.quota), UsedBytes: uint64(q.used),
	}, nil
}

// grow lets a file have size bytes, or as many as the quota allows, and returns how many.
func (q *QuotaFS) grow(f *quotaFile, size int64) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if size <= f.size {
		return size
	}
	size = min(size, max(f.size, pages(f.size)+(q.quota-q.used)/quotaPage*quotaPage))
	q.used += pages(size) - pages(f.size)
	f.size = size
	return size
}

// drop forgets a file, or its bytes, and returns it. mu must be held.
func (q *QuotaFS) drop(name string) *quotaFile {
	f := q.files[name]
	if f != nil {
		q.used -= pages(f.size)
	}
	delete(q.files, name)
	return f
}

// Create implements vfs.FS.
func (q *QuotaFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := q.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(name)
	q.files[name] = &quotaFile{}
	return &quotaHandle{File: f, fs: q, file: q.files[name]}, nil
}

// OpenReadWrite implements vfs.FS.
func (q *QuotaFS) OpenReadWrite(
	name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption,
) (vfs.File, error) {
	f, err := q.FS.OpenReadWrite(name, c, opts...)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.files[name] == nil {
		q.files[name] = &quotaFile{}
	}
	return &quotaHandle{File: f, fs: q, file: q.files[name]}, nil
}

// ReuseForWrite implements vfs.FS.
func (q *QuotaFS) ReuseForWrite(
	oldname, newname string, c vfs.DiskWriteCategory,
) (vfs.File, error) {
	if err := q.Rename(oldname, newname); err != nil {
		return nil, err
	}
	return q.OpenReadWrite(newname, c)
}

// Rename implements vfs.FS.
func (q *QuotaFS) Rename(oldname, newname string) error {
	if err := q.FS.Rename(oldname, newname); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(newname)
	if f := q.files[oldname]; f != nil {
		q.files[newname] = f
		delete(q.files, oldname)
	}
	return nil
}

// Remove implements vfs.FS.
func (q *QuotaFS) Remove(name string) error {
	if err := q.FS.Remove(name); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(name)
	return nil
}

// Unwrap implements vfs.FS.
func (q *QuotaFS) Unwrap() vfs.FS { return q.FS }

// quotaHandle is an open file of a QuotaFS.
type quotaHandle struct {
	vfs.File
	fs   *QuotaFS
	file *quotaFile

	mu sync.Mutex
	at int64 // where Write goes on
}

// Write implements vfs.File.
func (h *quotaHandle) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, err := h.fit(p, h.at, h.File.Write)
	h.at += int64(n)
	return n, err
}

// WriteAt implements vfs.File.
func (h *quotaHandle) WriteAt(p []byte, off int64) (int, error) {
	return h.fit(p, off, func(b []byte) (int, error) { return h.File.WriteAt(b, off) })
}

// fit writes as much as the quota allows.
func (h *quotaHandle) fit(p []byte, off int64, write func([]byte) (int, error)) (int, error) {
	room := h.fs.grow(h.file, off+int64(len(p))) - off
	short := room < int64(len(p))
	if short && room <= 0 {
		return 0, &os.PathError{Op: "write", Path: "quota", Err: syscall.ENOSPC}
	}
	n, err := write(p[:min(room, int64(len(p)))])
	if err == nil && short {
		err = &os.PathError{Op: "write", Path: "quota", Err: syscall.ENOSPC}
	}
	return n, err
}

package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/s3"
	"github.com/mnem-project/mnem/internal/exchange/remote/seal"
)

// objects stores objects, as s3.Client says it.
type objects interface {
	Get(ctx context.Context, key, known string, limit int64, w io.Writer, reset func() error) (s3.Object, error)
	Bytes(ctx context.Context, key, known string, limit int64) ([]byte, s3.Object, error)
	Put(ctx context.Context, key, known string, body io.ReaderAt, size int64) (s3.Object, error)
	Make(ctx context.Context, key string, body io.ReaderAt, size int64) error
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, under string, fn func(s3.Listed) error) error
	Probe(ctx context.Context, name string) error
}

// InFolder connects to a directory that holds a memory as a bucket does, since it is encrypted.
func InFolder(h *place.Host, at string, r place.Remote, dir string) (*Bucket, error) {
	b := &Bucket{at: &folder{dir: at, now: h.Now}}
	b.mirror = mirror{host: h, dir: dir, backend: b, what: "directory", name: "what is in the directory", remote: r}
	return b, b.open("mnem-dir-*")
}

// IsFolder reports whether a directory holds an encrypted memory.
func IsFolder(dir string) bool {
	f, err := regular.Open(filepath.Join(dir, s3Object))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was read
	head := make([]byte, len(seal.Magic))
	_, err = io.ReadFull(f, head)
	return err == nil && seal.Sealed(head)
}

// folder stores objects as files. Conditional writes hold a lock in the directory.
type folder struct {
	dir string
	now func() time.Time
}

// lockName is the file that writers of a directory lock.
const lockName = "lock"

func (f *folder) path(key string) string { return filepath.Join(f.dir, filepath.FromSlash(key)) }

// Get implements objects. The tag of an object is its SHA-256.
func (f *folder) Get(
	_ context.Context, key, known string, limit int64, w io.Writer, reset func() error,
) (o s3.Object, err error) {
	file, err := regular.Open(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", s3.ErrNotFound, err)
	}
	if err != nil {
		return o, err
	}
	defer func() { _ = file.Close() }() // it was read
	if err := reset(); err != nil {
		return o, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(file, limit+1))
	o.ETag, o.At = hex.EncodeToString(sum.Sum(nil)), f.now()
	switch {
	case err != nil:
		return o, err
	case n > limit:
		return o, s3.ErrTooLarge
	case known == o.ETag:
		return o, s3.ErrSame
	}
	return o, nil
}

// Bytes implements objects.
func (f *folder) Bytes(ctx context.Context, key, known string, limit int64) ([]byte, s3.Object, error) {
	var b strings.Builder
	o, err := f.Get(ctx, key, known, limit, &b, func() error { return nil })
	return []byte(b.String()), o, err
}

// Put implements objects.
func (f *folder) Put(ctx context.Context, key, known string, body io.ReaderAt, size int64) (o s3.Object, err error) {
	if err := os.MkdirAll(filepath.Dir(f.path(key)), 0o700); err != nil {
		return o, err
	}
	unlock, err := filestate.Lock(ctx, filepath.Join(f.dir, lockName))
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	is, err := f.Get(ctx, key, "", math.MaxInt64-1, io.Discard, func() error { return nil })
	if err != nil && !errors.Is(err, s3.ErrNotFound) {
		return o, err
	}
	if is.ETag != known {
		return o, s3.ErrMoved
	}
	sum := sha256.New()
	err = filestate.Replace(f.path(key), fileMode, func(w io.Writer) error {
		_, err := io.Copy(io.MultiWriter(w, sum), io.NewSectionReader(body, 0, size))
		return err
	})
	return s3.Object{ETag: hex.EncodeToString(sum.Sum(nil)), At: f.now()}, err
}

// Make implements objects.
func (f *folder) Make(ctx context.Context, key string, body io.ReaderAt, size int64) error {
	_, err := f.Put(ctx, key, "", body, size)
	return err
}

// Delete implements objects.
func (f *folder) Delete(_ context.Context, key string) error {
	if err := filestate.Remove(f.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List implements objects. It lists files of one directory.
func (f *folder) List(_ context.Context, under string, fn func(s3.Listed) error) error {
	entries, err := os.ReadDir(f.path(under))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it was removed just now, or is none of ours
		}
		if err := fn(s3.Listed{Key: under + e.Name(), At: info.ModTime()}); err != nil {
			return err
		}
	}
	return nil
}

// Probe implements objects: the lock keeps writers apart.
func (f *folder) Probe(context.Context, string) error { return os.MkdirAll(f.dir, 0o700) }

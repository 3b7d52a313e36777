package line

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// maxHeld is how many bytes of an input that was read ahead are kept in memory.
const maxHeld = 1 << 20

// wholeInput is an input that was read to its end.
type wholeInput struct {
	io.ReaderAt
	Size  int64
	close func() error
}

// ReadAhead reads to their end the inputs of a request that another program or a person may still be
// writing, so that nothing waits for them while the repository is held, and each run of a verb can read
// them. What is longer than 1 MiB is in a file of the repository's directory until done is called.
// Regular files are read when it is their turn.
func (c *Line) ReadAhead(ctx context.Context, req any) (done func(), err error) {
	done = func() {
		for _, in := range c.Whole {
			_ = in.close() // only read
		}
		c.Whole = nil
	}
	names := slices.Clone(c.Inputs)
	if q, ok := req.(interface{ InputName() string }); ok && q.InputName() != "" {
		names = append(names, q.InputName())
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name != StdinName && !isDescriptor(name) })
	if _, missing := c.Dir(); missing != nil || len(names) == 0 {
		return done, nil // opening says that there is none
	}
	if q, ok := req.(verb.Checker); ok {
		if err := q.Check(); err != nil {
			return done, err
		}
	}
	if err := OnceStdin(names); err != nil {
		return done, err
	}
	whole := make(map[string]*wholeInput)
	for _, name := range names {
		in, err := c.readWhole(ctx, name)
		if err != nil {
			c.Whole = whole
			done()
			return done, err
		}
		whole[name] = in
	}
	c.Whole = whole
	return done, nil
}

func (c *Line) readWhole(ctx context.Context, name string) (*wholeInput, error) {
	if f, size := steadyFile(c.App.Stdin); name == StdinName && f != nil {
		from, err := f.Seek(0, io.SeekCurrent)
		if err == nil {
			_, err = f.Seek(0, io.SeekEnd) // as if it was read
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", stdinShown, err)
		}
		left := max(0, size-from)
		return &wholeInput{io.NewSectionReader(f, from, left), left, func() error { return nil }}, nil
	}
	from, shown, err := c.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // only read
	head, err := io.ReadAll(io.LimitReader(from, maxHeld))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", shown, err)
	}
	if len(head) < maxHeld {
		return &wholeInput{bytes.NewReader(head), int64(len(head)), func() error { return nil }}, nil
	}
	f, err := c.spoolFile(io.MultiReader(bytes.NewReader(head), from))
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", shown, err)
	}
	return &wholeInput{f, f.Size, f.Close}, nil
}

// isDescriptor reports whether a path names a descriptor of this process, as the shell's <(COMMAND)
// does: it is open, so that its other end is known.
func isDescriptor(path string) bool {
	number, ok := strings.CutPrefix(path, "/dev/fd/")
	if !ok {
		number, ok = strings.CutPrefix(path, "/proc/self/fd/")
	}
	_, err := strconv.ParseUint(number, 10, 31)
	return path == "/dev/stdin" || ok && err == nil
}

// openDescriptor opens such a path. An interrupt ends a read that waits.
func openDescriptor(ctx context.Context, path string) (io.ReadCloser, string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|regular.NoWait, 0)
	if err != nil {
		return nil, path, openError(path, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{NewPatientReader(ctx, f), f}, path, nil
}

// Steady reports whether standard input is a regular file.
func (c *Line) Steady() bool {
	f, _ := steadyFile(c.App.Stdin)
	return f != nil
}

// steadyFile returns an input that is a regular file, and its size: reading it does not wait. It returns nil for
// another.
func steadyFile(in io.Reader) (*os.File, int64) {
	f, ok := in.(*os.File)
	if !ok {
		return nil, 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0
	}
	return f, info.Size()
}

// spoolFile copies what is read into a file of the repository's directory, which is gone when it is
// closed.
func (c *Line) spoolFile(from io.Reader) (*peers.TempFile, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	return peers.SpoolFile(filepath.Join(dir, core.DirName), from)
}

package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

const (
	// StdinName is the argument that stands for standard input, stdinShown how messages call it.
	StdinName  = "-"
	stdinShown = "<stdin>"
)

// Open opens a file that was given as an argument, and returns what messages call it.
func (c *Line) Open(ctx context.Context, arg string) (io.ReadCloser, string, error) {
	if whole := c.Whole[arg]; whole != nil {
		return io.NopCloser(io.NewSectionReader(whole, 0, whole.Size)), ShownFile(arg), nil
	}
	if arg == StdinName {
		return io.NopCloser(NewPatientReader(ctx, c.App.Stdin)), stdinShown, nil
	}
	if err := c.MayName(arg); err != nil {
		return nil, arg, err
	}
	if isDescriptor(arg) {
		return openDescriptor(ctx, arg)
	}
	f, err := regular.Open(c.Absolute(arg))
	if err != nil {
		return nil, arg, openError(arg, err)
	}
	return f, arg, nil
}

// openError names the path of a file that did not open as it was given.
func openError(arg string, err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("open %s: %w", arg, at.Err)
	}
	other, ok := errors.AsType[*regular.Error](err)
	if !ok {
		return err
	}
	err = &regular.Error{Path: arg, Mode: other.Mode}
	if other.Mode&fs.ModeNamedPipe != 0 {
		return Hint(err, "give what is in a pipe as standard input: name - and redirect it")
	}
	return err
}

// Changes returns the change lines of files, one after the other, as one stream. Each is opened when it is its turn.
func (c *Line) Changes(ctx context.Context, args []string) (state.Changes, error) {
	if err := OnceStdin(args); err != nil {
		return nil, err
	}
	return func(yield func(graph.Change, error) bool) {
		for _, arg := range args {
			if !c.changesOf(ctx, arg, yield) {
				return
			}
		}
	}, nil
}

// Lines reads the change lines of files, and shows how many were read.
func (c *Line) Lines(ctx context.Context, names []string) (state.Changes, error) {
	changes, err := c.Changes(ctx, names)
	if err != nil {
		return nil, err
	}
	p := c.Progress()
	c.Working = append(c.Working, p.Done)
	return p.count(changes), nil
}

// OnceStdin returns an error if more than one file is standard input.
func OnceStdin(args []string) error {
	if i := slices.Index(args, StdinName); i >= 0 && slices.Contains(args[i+1:], StdinName) {
		return Usagef("standard input is named twice")
	}
	return nil
}

func (c *Line) changesOf(ctx context.Context, arg string, yield func(graph.Change, error) bool) (more bool) {
	f, name, err := c.Open(ctx, arg)
	if err != nil {
		yield(graph.Change{}, err)
		return false
	}
	more = true
	for change, err := range state.ReadChanges(f, name) {
		more = yield(change, err) && err == nil
		if !more {
			break
		}
	}
	if err := f.Close(); err != nil && more {
		more = yield(graph.Change{}, err) && false
	}
	return more
}

// patientReader reads standard input until the context ends: a read that waits for a person or a
// pipe does not outlive an interrupt.
type patientReader struct {
	ctx   context.Context
	in    io.Reader
	reads chan readResult
	rest  []byte
	err   error
	busy  bool // whether a read is under way
	buf   []byte
}

type readResult struct {
	n   int
	err error
}

// stdinBuffer is how many bytes of standard input are read at once.
const stdinBuffer = 64 << 10

// NewPatientReader returns a reader of in that an ended context ends.
func NewPatientReader(ctx context.Context, in io.Reader) *patientReader {
	return &patientReader{
		ctx: ctx, in: in, reads: make(chan readResult, 1), buf: make([]byte, stdinBuffer),
	}
}

func (r *patientReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil {
		if !r.busy {
			r.busy = true
			go func() {
				n, err := r.in.Read(r.buf)
				r.reads <- readResult{n, err}
			}()
		}
		select {
		case <-r.ctx.Done():
			return 0, fmt.Errorf("read standard input: %w", r.ctx.Err())
		case got := <-r.reads:
			r.busy, r.rest, r.err = false, r.buf[:got.n], got.err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// Seekable opens a file for random reads. Anything but a regular file is first copied into the
// repository's directory: a disk with space for its blocks has space for the copy.
func (c *Line) Seekable(ctx context.Context, file string) (in *verb.File, err error) {
	if whole := c.Whole[file]; whole != nil {
		return &verb.File{ReaderAt: whole, Size: whole.Size, Close: func() {}}, nil // closed with the command
	}
	from, name, err := c.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	if f, ok := from.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return &verb.File{ReaderAt: f, Size: info.Size(), Close: func() { _ = f.Close() }}, nil // only read
		}
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	f, err := c.spoolFile(from)
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", name, err)
	}
	return &verb.File{ReaderAt: f, Size: f.Size, Close: func() { _ = f.Close() }}, nil // a copy
}

// maxHeld is how many bytes of an input that was read ahead are kept in memory.
const maxHeld = 1 << 20

type wholeInput struct {
	io.ReaderAt
	Size  int64
	close func() error
}

// ReadAhead reads to their end the inputs of a request that another program or a person may still be writing, so that
// nothing waits for them while the repository is held, and each run of a verb can read them. What is longer than 1 MiB
// is in a file of the repository's directory until done is called. Regular files are read when it is their turn.
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

// isDescriptor reports whether a path names a descriptor of this process, as the shell's <(COMMAND) does.
func isDescriptor(path string) bool {
	dir, number := filepath.Split(path)
	_, err := strconv.ParseUint(number, 10, 31)
	return path == "/dev/stdin" || (dir == "/dev/fd/" || dir == "/proc/self/fd/") && err == nil
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

// steadyFile returns an input that is a regular file, which is read without waiting, and its size; nil for another.
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

// spoolFile copies what is read into a file of the repository's directory, which its Close removes.
func (c *Line) spoolFile(from io.Reader) (*peers.TempFile, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	return peers.SpoolFile(filepath.Join(dir, core.DirName), from)
}

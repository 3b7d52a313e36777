package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
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
	var at *os.PathError
	var other *regular.Error
	switch {
	case errors.As(err, &at):
		return fmt.Errorf("open %s: %w", arg, at.Err)
	case errors.As(err, &other):
		err = &regular.Error{Path: arg, Mode: other.Mode}
		if other.Mode&fs.ModeNamedPipe != 0 {
			return Hint(err, "give what is in a pipe as standard input: name - and redirect it")
		}
	}
	return err
}

// Changes returns the change lines of files, one after the other, as one stream. Each is opened
// when it is its turn.
func (c *Line) Changes(ctx context.Context, args []string) (state.Changes, error) {
	if err := OnceStdin(args); err != nil {
		return nil, err
	}
	from := make([]source, len(args))
	for i, arg := range args {
		from[i] = source{open: func() (io.ReadCloser, string, error) { return c.Open(ctx, arg) }}
	}
	return func(yield func(graph.Change, error) bool) {
		for _, s := range from {
			if !s.changes(yield) {
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
	seen := false
	for _, arg := range args {
		if arg == StdinName && seen {
			return Usagef("standard input is named twice")
		}
		seen = seen || arg == StdinName
	}
	return nil
}

// source is a file of change lines.
type source struct {
	open func() (in io.ReadCloser, name string, err error)
}

// changes yields the changes of the file and reports whether to go on.
func (s source) changes(yield func(graph.Change, error) bool) (more bool) {
	f, name, err := s.open()
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

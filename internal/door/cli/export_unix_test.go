//go:build unix

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestWriteOut writes to a pipe and a device without replacing them, and waits neither for a reader nor against an interrupt.
func TestWriteOut(t *testing.T) {
	says := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { return must.Err(io.WriteString(w, text)) }
	}
	path := filepath.Join(t.TempDir(), "pipe")
	must.OK(t, syscall.Mkfifo(path, 0o600))
	err := line.WriteOut(t.Context(), path, says("no process reads"))
	must.True(t, errors.Is(err, state.ErrInvalid) && strings.Contains(err.Error(), path+" is a named pipe that nothing reads"), "%v", err)
	f := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t) // both ends, so that the reader is there
	defer func() { _ = f.Close() }()                  // only read
	must.OK(t, line.WriteOut(t.Context(), path, says("through")))
	got := make([]byte, len("through"))
	must.OK(t, must.Err(io.ReadFull(f, got)))
	must.Equal(t, string(got), "through")
	ctx, cancel := context.WithCancel(t.Context())
	err = line.WriteOut(ctx, path, func(w io.Writer) error { // until it is full
		go cancel()
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
				return err
			}
		}
	})
	must.Fail(t, err, context.Canceled)
	before := must.Get(os.Lstat(os.DevNull))(t)
	must.OK(t, line.WriteOut(t.Context(), os.DevNull, says("gone")))
	must.True(t, os.SameFile(before, must.Get(os.Lstat(os.DevNull))(t)), "the device was replaced")
	must.True(t, must.Get(os.Lstat(path))(t).Mode()&os.ModeNamedPipe != 0, "the pipe was replaced")
}

//go:build unix

package cli

import (
	"bytes"
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

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func isPipe(t *testing.T, path string) bool {
	t.Helper()
	info := must.Get(os.Lstat(path))(t)
	return info.Mode()&os.ModeNamedPipe != 0
}

func TestWriteOutKeepsAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	must.OK(t, syscall.Mkfifo(path, 0o600))
	// Opened for both ends, so that the reader is there.
	f := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer func() { _ = f.Close() }() // only read
	must.OK(t, line.WriteOut(t.Context(), path, writeText("through")))
	got := make([]byte, len("through"))
	if _, err := io.ReadFull(f, got); err != nil || !bytes.Equal(got, []byte("through")) {
		t.Errorf("read %q: %v", got, err)
	}
	must.True(t, isPipe(t, path), "the pipe was replaced")
}

func TestWriteOutWaitsForNoReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	must.OK(t, syscall.Mkfifo(path, 0o600))
	err := line.WriteOut(t.Context(), path, writeText("nobody reads"))
	if !errors.Is(err, state.ErrInvalid) || !strings.Contains(err.Error(), path+" is a named pipe that nothing reads") {
		t.Errorf("error %v", err)
	}
	// A pipe that is full and not read: an interrupt ends the write.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must.OK(t, err)
	defer func() { _ = f.Close() }() // nothing is read
	ctx, cancel := context.WithCancel(t.Context())
	err = line.WriteOut(ctx, path, func(w io.Writer) error {
		go cancel()
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
				return err
			}
		}
	})
	must.Fail(t, err, context.Canceled, "error")
}

func TestWriteOutKeepsADevice(t *testing.T) {
	before := must.Get(os.Lstat(os.DevNull))(t)
	must.OK(t, line.WriteOut(t.Context(), os.DevNull, writeText("gone")))
	after, err := os.Lstat(os.DevNull)
	must.True(t, err == nil && os.SameFile(before, after), "the device was replaced: %v", err)
}

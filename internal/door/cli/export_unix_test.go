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
)

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func isPipe(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()&os.ModeNamedPipe != 0
}

func TestWriteOutKeepsAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened for both ends, so that the reader is there.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	if err := line.WriteOut(t.Context(), path, writeText("through")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("through"))
	if _, err := io.ReadFull(f, got); err != nil || !bytes.Equal(got, []byte("through")) {
		t.Errorf("read %q: %v", got, err)
	}
	if !isPipe(t, path) {
		t.Error("the pipe was replaced")
	}
}

func TestWriteOutWaitsForNoReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	err := line.WriteOut(t.Context(), path, writeText("nobody reads"))
	if !errors.Is(err, state.ErrInvalid) || !strings.Contains(err.Error(), path+" is a named pipe that nothing reads") {
		t.Errorf("error %v", err)
	}
	// A pipe that is full and not read: an interrupt ends the write.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
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
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestWriteOutKeepsADevice(t *testing.T) {
	before, err := os.Lstat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := line.WriteOut(t.Context(), os.DevNull, writeText("gone")); err != nil {
		t.Fatal(err)
	}
	after, err := os.Lstat(os.DevNull)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the device was replaced: %v", err)
	}
}

//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
	read := make(chan []byte, 1)
	go func() {
		data, _ := os.ReadFile(path)
		read <- data
	}()
	if err := writeOut(t.Context(), path, writeText("through")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; !bytes.Equal(got, []byte("through")) {
		t.Errorf("read %q", got)
	}
	if !isPipe(t, path) {
		t.Error("the pipe was replaced")
	}
}

func TestWriteOutStopsWaitingForAReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := writeOut(ctx, path, writeText("nobody reads"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
		_ = f.Close() // lets the writer that still waits go
	}
}

func TestWriteOutKeepsADevice(t *testing.T) {
	before, err := os.Lstat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeOut(t.Context(), os.DevNull, writeText("gone")); err != nil {
		t.Fatal(err)
	}
	after, err := os.Lstat(os.DevNull)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the device was replaced: %v", err)
	}
}

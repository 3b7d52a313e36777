package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/mnem-project/mnem/internal/filestate"
)

// writeOut writes what path names. What is no regular file, as a device or a pipe, is written in
// its place; a symbolic link stays, and what it leads to is written.
func writeOut(ctx context.Context, path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInPlace(ctx, path, write)
	}
	return filestate.Replace(path, privateMode, write)
}

// privateMode is that of a new file with memories in it: they are their user's business.
const privateMode = 0o600

// writeInPlace writes to a device or pipe. An interrupt ends the wait for a reader.
func writeInPlace(ctx context.Context, path string, write func(io.Writer) error) error {
	type opened struct {
		f   *os.File
		err error
	}
	ready := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		ready <- opened{f, err}
	}()
	var to opened
	select {
	case <-ctx.Done():
		return ctx.Err()
	case to = <-ready:
	}
	if to.err != nil {
		return to.err
	}
	stop := context.AfterFunc(ctx, func() { _ = to.f.Close() }) // wakes a write that waits
	err := write(to.f)
	if !stop() {
		return errors.Join(ctx.Err(), err)
	}
	return firstError(err, to.f.Close())
}

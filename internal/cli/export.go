package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/ops"
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

func (c *cli) printExport(res *ops.Exported) error {
	if res.File == stdinName {
		c.remark("exported %s, %s", plural(res.Blocks, "block"), plural(int(res.Bytes), "byte"))
		return nil
	}
	var rows [][]cell
	for _, ref := range res.Refs {
		rows = append(rows, []cell{
			{line(string(ref.Ref)), styleCyan}, {shortCID(ref.Target), styleYellow},
		})
	}
	for _, o := range res.Objects {
		rows = append(rows, []cell{{"without a ref", styleDim}, {shortCID(o), styleYellow}})
	}
	for _, s := range res.Since {
		rows = append(rows, []cell{{"needs", styleDim}, {shortCID(s), styleYellow}})
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if res.Redacted > 0 {
		c.remark("%s %s erased: the file says so and has the rest", plural(res.Redacted, "block"),
			wasWere(res.Redacted))
	}
	return c.printf("exported %s, %s to %s\n", plural(res.Blocks, "block"),
		plural(int(res.Bytes), "byte"), line(res.File))
}

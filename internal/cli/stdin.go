package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/peers"
	"github.com/mnem-project/mnem/repo"
)

// spool opens a file that was given as an argument, and reads all of it where that may take as long
// as somebody likes: what a writer of a shared repository reads, the other writers wait for.
func (c *cli) spool(ctx context.Context, arg string) (io.ReadCloser, string, error) {
	from, name, err := c.open(ctx, arg)
	if err != nil {
		return nil, name, err
	}
	if f, ok := from.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, name, nil
		}
	}
	defer func() { _ = from.Close() }() // only read from
	dir, err := c.dir()
	if err != nil {
		return nil, name, err
	}
	in, err := peers.Spool(filepath.Join(dir, repo.DirName), from)
	return in, name, err
}

// spoolFile copies what is read into a file of the repository's directory, which is gone when it is
// closed.
func (c *cli) spoolFile(from io.Reader) (*peers.File, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return peers.SpoolFile(filepath.Join(dir, repo.DirName), from)
}

// longText returns the text of arguments, or of standard input where they are a hyphen. Of more
// bytes than most, 0 for those of a memory, the rest is left out.
func (c *cli) longText(ctx context.Context, args []string, most int) (string, error) {
	if len(args) != 1 || args[0] != stdinName {
		return strings.Join(args, " "), nil
	}
	if most == 0 {
		most = 4 * memory.MaxText
	}
	in := newPatientReader(ctx, c.app.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, int64(most)))
	return string(data), err
}

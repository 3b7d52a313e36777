package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"

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

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mnem-project/mnem/ops"
)

// seekable opens a file for reading anywhere. What is no regular file is first copied into the
// repository's directory, where there is room for it if there is for its blocks.
func (c *cli) seekable(ctx context.Context, file string) (in *ops.File, err error) {
	from, name, err := c.open(ctx, file)
	if err != nil {
		return nil, err
	}
	if f, ok := from.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return &ops.File{ReaderAt: f, Size: info.Size(), Close: func() { _ = f.Close() }}, nil // only read
		}
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	f, err := c.spoolFile(from)
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", name, err)
	}
	return &ops.File{ReaderAt: f, Size: f.Size, Close: func() { _ = f.Close() }}, nil // a copy
}

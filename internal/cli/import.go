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

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (c *cli) printImport(q *ops.ImportRequest, res *ops.Imported) error {
	c.warnSecrets(res.Warnings)
	if len(res.Refs) == 0 {
		return c.printf("nothing to import: all of %s is here already\n", line(q.File))
	}
	var rows [][]cell
	for _, ref := range res.Refs {
		from := "(new)"
		if ref.From.Defined() {
			from = shortCID(ref.From)
		}
		rows = append(rows, []cell{
			{line(string(ref.Ref)), styleCyan}, {from, styleDim}, {"->", styleDim},
			{shortCID(ref.To), styleYellow},
		})
	}
	if err := c.table(rows); err != nil {
		return err
	}
	did := "imported"
	if res.DryRun {
		did = "would import"
	}
	if res.Redacted > 0 {
		c.remark("%s of the file %s erased here: left out", plural(res.Redacted, "block"),
			wasWere(res.Redacted))
	}
	if res.Redactions > 0 {
		c.remark("%s %s erased where the file is from", plural(res.Redactions, "block"),
			wasWere(res.Redactions))
	}
	if res.Head != "" {
		did = "on branch " + line(string(res.Head)) + ": " + did
	}
	return c.printf("%s %s, %d of %s new\n", did, plural(len(res.Refs), "ref"), res.NewBlocks,
		plural(res.Blocks, "block"))
}

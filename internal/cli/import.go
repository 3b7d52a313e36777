package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// importJSON is what an import did.
type importJSON struct {
	Name      *string         `json:"name"` // null where refs kept their own names
	Scope     string          `json:"scope"`
	Refs      []refChangeJSON `json:"refs"`
	Head      *string         `json:"head"` // the branch that HEAD was moved to
	Blocks    int             `json:"blocks"`
	Bytes     int64           `json:"bytes"`
	NewBlocks int             `json:"new_blocks"`
	// Redacted is the number of blocks of the file that were erased here and stay so, Redactions of
	// those that were erased where it is from.
	Redacted   int  `json:"redacted"`
	Redactions int  `json:"redactions"`
	NoChange   bool `json:"no_change"`
	DryRun     bool `json:"dry_run"`

	Warnings ops.Warnings `json:"warnings,omitempty"`
}

// refChangeJSON is a ref that was moved, from null where it is new.
type refChangeJSON struct {
	Ref  string  `json:"ref"`
	From *string `json:"from"`
	To   string  `json:"to"`
}

// importName is the name of an import where neither a flag nor the file gives one.
const importName = "import"

func (c *cli) importCommand() *cobra.Command {
	var opt repo.ImportOptions
	cmd := &cobra.Command{
		Use:     "import FILE|-",
		GroupID: groupTrade,
		Short:   "Take in what 'mnem export' wrote",
		Long: "Take in a CARv1 file, all or nothing: every block is verified, every link must lead to a block\n" +
			"of the file or of the repository, and every commit is checked as 'mnem fsck' would, before\n" +
			"anything is written. A damaged file is refused with what is wrong with it and where.\n\n" +
			"Into a repository without commits branches, tags and sessions come under their own names, and\n" +
			"HEAD is on the branch it was on where they are from. Into any other they come as\n" +
			"refs/imported/NAME/heads/… and so on, which can be read with --at, merged, and replayed, and\n" +
			"replace what came under that name before; no branch moves but the one that --as names, and that\n" +
			"forward only. NAME is the file's name without its ending unless --name gives another.",
		Example: "  mnem import memory.car --name laptop\n" +
			"  mnem import memory.car --name laptop --as laptop\n" +
			"  mnem import --dry-run - <memory.car",
		Args: cobra.ExactArgs(1),
	}
	c.writeFlags(cmd)
	c.headFlag(cmd)
	c.requireFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.Name, "name", "", "the `NAME` in refs/imported/NAME/…, also for a repository "+
		"without commits")
	f.StringVar(&opt.As, "as", "", "the local `BRANCH` to make, or to move forward, to the imported one")
	f.BoolVar(&opt.DryRun, "dry-run", false, "check everything and write nothing")
	c.complete(cmd, "as", completeBranches)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		var err error
		if opt.Stamp, err = c.stamp(cmd); err != nil {
			return err
		}
		if opt.Verify, err = c.requireSigned(ruleImport); err != nil {
			return err
		}
		opt.Fallback = nameOfFile(args[0])
		return c.withRepo(cmd, !opt.DryRun, func(ctx context.Context, r *repo.Repo) error {
			return c.runImport(ctx, r, args[0], opt)
		})
	})
}

// nameOfFile makes the name of an import from that of its file.
func nameOfFile(file string) string {
	name := filepath.Base(file)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if file == stdinName || graph.ValidateImport(name) != nil {
		return importName
	}
	return name
}

func (c *cli) runImport(
	ctx context.Context, r *repo.Repo, file string, opt repo.ImportOptions,
) error {
	in, size, done, err := c.seekable(ctx, file)
	if err != nil {
		return err
	}
	defer done()
	p := c.progress()
	defer p.done()
	opt.Progress = func(what string, n int) { p.set(what+":", n, 0) }
	res, err := r.Import(ctx, in, size, opt)
	var behind *repo.ForwardError
	if errors.As(err, &behind) {
		return hint(err, "import it without --as, then 'mnem merge' the refs/imported/… it prints, "+
			"or give --as another name")
	}
	if err != nil {
		return err
	}
	p.done()
	return c.printImport(file, res, opt.DryRun)
}

// seekable opens a file for reading anywhere. What is no regular file is first copied into the
// repository's directory, where there is room for it if there is for its blocks. done must be
// called.
func (c *cli) seekable(
	ctx context.Context, file string,
) (in io.ReaderAt, size int64, done func(), err error) {
	from, name, err := c.open(ctx, file)
	if err != nil {
		return nil, 0, nil, err
	}
	if f, ok := from.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, info.Size(), func() { _ = f.Close() }, nil // it was only read
		}
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	f, err := c.spoolFile(from)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("copy %s: %w", name, err)
	}
	return f, f.Size, func() { _ = f.Close() }, nil // a copy that nobody needs any more
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (c *cli) printImport(file string, res *repo.ImportResult, dryRun bool) error {
	c.warnSecrets(ops.WarningsOf(res.Secrets))
	if c.global.json {
		out := importJSON{
			Name: orNull(res.Name), Scope: string(res.Scope), Refs: []refChangeJSON{},
			Head: orNull(res.Head), Blocks: res.Blocks, Bytes: res.Bytes, NewBlocks: res.NewBlocks,
			Redacted: res.Redacted, Redactions: res.Redactions,
			NoChange: len(res.Refs) == 0, DryRun: dryRun, Warnings: ops.WarningsOf(res.Secrets),
		}
		for _, ref := range res.Refs {
			out.Refs = append(out.Refs, refChangeJSON{
				string(ref.Ref), jsonCID(ref.From), ref.To.String(),
			})
		}
		return c.printJSON(out)
	}
	if len(res.Refs) == 0 {
		return c.printf("nothing to import: all of %s is here already\n", line(file))
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
	if dryRun {
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
		did = "on branch " + line(res.Head) + ": " + did
	}
	return c.printf("%s %s, %d of %s new\n", did, plural(len(res.Refs), "ref"), res.NewBlocks,
		plural(res.Blocks, "block"))
}

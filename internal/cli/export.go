package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// exportJSON is what an export wrote.
type exportJSON struct {
	File    string      `json:"file"`
	Roots   []string    `json:"roots"`
	Scope   string      `json:"scope"`
	Refs    []refAtJSON `json:"refs"`
	Objects []string    `json:"objects"` // commits and receipts without a ref
	Since   []string    `json:"since"`   // commits an importing repository must have
	Blocks  int         `json:"blocks"`
	Bytes   int64       `json:"bytes"`
	// Redacted is the number of blocks that were erased and are not in the file.
	Redacted int `json:"redacted"`
}

// refAtJSON is a ref and what it names.
type refAtJSON struct {
	Ref    string `json:"ref"`
	Target string `json:"target"`
}

func (c *cli) exportCommand() *cobra.Command {
	var opt repo.ExportOptions
	var file string
	cmd := &cobra.Command{
		Use:     "export [REV|REV..REV] -o FILE|-",
		GroupID: groupTrade,
		Short:   "Write commits, sessions or receipts to one file",
		Long: "Write a commit with its whole history to a CARv1 file, which 'mnem import' and other IPLD tools\n" +
			"read: the branch HEAD is on, another revision, with A..B what B has and A does not, with --all\n" +
			"every branch, tag and session, or one session or receipt with the commits it is about.\n" +
			"Signatures, marks and embeddings go along; stages, indexes and the log of operations do not.\n" +
			"The same commits give the same bytes on every machine. A new file is for its user alone, mode\n" +
			"0600; one that is replaced keeps its mode.",
		Example: "  mnem export -o memory.car\n" +
			"  mnem export --all -o backup.car\n" +
			"  mnem export HEAD~1..HEAD -o news.car\n" +
			"  mnem export --session review -o review.car",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	f := cmd.Flags()
	f.StringVarP(&file, "output", "o", "", "the `FILE` to write, or \"-\" for standard output; required")
	f.BoolVar(&opt.All, "all", false, "every branch, tag and session")
	f.StringVar(&opt.Session, "session", "", "the session `NAME` with its commits and receipts")
	f.StringVar(&opt.Receipt, "receipt", "", "the receipt `CID` with its commit")
	c.complete(cmd, "session", completeSessions)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := needOne(cmd, "all", "session", "receipt"); err != nil {
			return err
		}
		switch {
		case len(args) > 0 && (opt.All || opt.Session != "" || opt.Receipt != ""):
			return usagef("give a revision or one of --all, --session and --receipt, not both")
		case file == "":
			return usagef("no file: name one with -o FILE, or \"-\" for standard output")
		case file == stdinName && c.global.json:
			return usagef("-o - and --json exclude each other: both write to standard output")
		case file == stdinName && c.app.OutTTY:
			return usagef("standard output is a terminal: name a file with -o FILE")
		case len(args) > 0:
			opt.Rev = args[0]
		}
		return c.runExport(cmd, file, opt)
	})
}

func (c *cli) runExport(cmd *cobra.Command, file string, opt repo.ExportOptions) error {
	return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
		p := c.progress()
		defer p.done()
		opt.Progress = func(blocks int, _ int64) { p.set("blocks written:", blocks, 0) }
		if file == stdinName {
			res, err := r.Export(ctx, c.out, opt)
			if err != nil {
				return ops.CommitHint(err)
			}
			p.done()
			c.remark("exported %s, %s", plural(res.Blocks, "block"), plural(int(res.Bytes), "byte"))
			return nil
		}
		if err := c.mayName(file); err != nil {
			return err
		}
		var res *repo.ExportResult
		err := writeOut(ctx, c.absolute(file), func(w io.Writer) (err error) {
			res, err = r.Export(ctx, w, opt)
			return err
		})
		if err != nil {
			return ops.CommitHint(err)
		}
		p.done()
		return c.printExport(file, res)
	})
}

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

func (c *cli) printExport(file string, res *repo.ExportResult) error {
	if c.global.json {
		out := exportJSON{
			File: file, Roots: []string{res.Root.String()}, Scope: string(res.Scope),
			Refs: []refAtJSON{}, Objects: jsonCIDs(res.Objects), Since: jsonCIDs(res.Since),
			Blocks: res.Blocks, Bytes: res.Bytes, Redacted: res.Redacted,
		}
		for _, ref := range res.Refs {
			out.Refs = append(out.Refs, refAtJSON{string(ref.Name), ref.Target.String()})
		}
		return c.printJSON(out)
	}
	var rows [][]cell
	for _, ref := range res.Refs {
		rows = append(rows, []cell{
			{line(string(ref.Name)), styleCyan}, {shortCID(ref.Target), styleYellow},
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
		plural(int(res.Bytes), "byte"), line(file))
}

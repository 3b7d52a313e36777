package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

// fsckJSON is what fsck found.
type fsckJSON struct {
	OK     bool            `json:"ok"`
	Blocks int             `json:"blocks"`
	Errors []fsckErrorJSON `json:"errors"`
}

type fsckErrorJSON struct {
	CID     *string `json:"cid"`
	Kind    string  `json:"kind"`
	Message string  `json:"message"`
}

func (c *cli) fsckCommand() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:     "fsck",
		GroupID: groupCare,
		Short:   "Check that nothing stored is damaged",
		Long: "Check the hash and form of every block, the chain of operations, all refs, commits and\n" +
			"sessions, the trees, that adjacency and index are those of the graph, and name each bad\n" +
			"block. It changes nothing. Damage gives exit code 4.",
		Example: "  mnem fsck\n  mnem fsck --full --json",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&full, "full", false, "check the trees of every commit from end to end, not "+
		"only those that refs name")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			p := c.progress()
			defer p.done()
			report, err := r.Fsck(ctx, repo.FsckOptions{
				Full: full, Progress: func(what string, done int) { p.set(what, done, 0) },
			})
			if err != nil {
				return err
			}
			p.done()
			if len(report.Errors) > 0 {
				c.exit = outcomeCorrupt.Exit
			}
			return c.printFsck(report)
		})
	})
}

func (c *cli) printFsck(report *repo.FsckReport) error {
	out := fsckJSON{
		OK: len(report.Errors) == 0, Blocks: report.Blocks, Errors: []fsckErrorJSON{},
	}
	for _, e := range report.Errors {
		if !c.global.json {
			cid := "-"
			if e.CID.Defined() {
				cid = e.CID.String()
			}
			if err := c.printf("%s %s: %s\n", c.paint(styleRed, string(e.Kind)), cid,
				line(e.Message)); err != nil {
				return err
			}
		}
		out.Errors = append(out.Errors, fsckErrorJSON{jsonCID(e.CID), string(e.Kind), e.Message})
	}
	switch {
	case c.global.json:
		return c.printJSON(out)
	case out.OK:
		return c.printf("%s: %s\n", c.paint(styleGreen, "ok"), plural(out.Blocks, "block"))
	}
	return c.printf("%s in %s\n", c.paint(styleRed, plural(len(out.Errors), "error")),
		plural(out.Blocks, "block"))
}

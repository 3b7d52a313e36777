package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/repo"
)

// fsckJSON is what fsck found.
type fsckJSON struct {
	OK     bool            `json:"ok"`
	Blocks int             `json:"blocks"`
	Errors []fsckErrorJSON `json:"errors"`
	// Repaired is what was done about them, a sentence each; only with --repair.
	Repaired []string `json:"repaired,omitzero"`
}

type fsckErrorJSON struct {
	CID     *string `json:"cid"`
	Kind    string  `json:"kind"`
	Message string  `json:"message"`
}

func (c *cli) fsckCommand() *cobra.Command {
	var full, repair, accept bool
	cmd := &cobra.Command{
		Use:     "fsck",
		GroupID: groupCare,
		Short:   "Check that nothing stored is damaged",
		Long: "Check the hash and form of every block, the chain of operations, all refs, commits and\n" +
			"sessions, the trees, that adjacency and index are those of the graph, and name each bad\n" +
			"block. It changes nothing. Damage gives exit code 4.\n\n" +
			"With --repair indexes that are damaged are made anew, which loses nothing; damaged facts are\n" +
			"named as before, and beside them no index is dropped. Where nodes of a branch hide each other,\n" +
			"as each is superseded by the next in a circle, a commit takes the oldest of these marks off. A\n" +
			"repository that does not open because what is stored is not what was acknowledged last opens\n" +
			"with --accept-head: what the message says is gone stays gone.",
		Example: "  mnem fsck\n  mnem fsck --full --json\n  mnem fsck --repair",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&full, "full", false, "check the trees and indexes of every commit from end to "+
		"end, not only of those that refs name")
	cmd.Flags().BoolVar(&repair, "repair", false, "make anew what can be: indexes; show nodes that hide each other")
	cmd.Flags().BoolVar(&accept, "accept-head", false, "with --repair: open the repository although "+
		"acknowledged operations are not in it")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		if accept && !repair {
			return usagef("--accept-head needs --repair")
		}
		c.acceptHead = accept
		return c.withRepo(cmd, repair, func(ctx context.Context, r *repo.Repo) error {
			p := c.progress()
			defer p.done()
			opt := repo.FsckOptions{
				Full: full, Progress: func(what string, done int) { p.set(what, done, 0) },
			}
			res := &repo.RepairResult{}
			var err error
			if repair {
				if opt.By, err = c.stamp(cmd); err != nil {
					c.remark("note: marks are left as they are: %s", line(err.Error()))
					opt.By = repo.Stamp{}
				}
				res, err = r.Repair(ctx, opt)
			} else {
				res.Report, err = r.Fsck(ctx, opt)
			}
			if err != nil && (!repair || res == nil) {
				return err
			}
			p.done()
			if repair {
				res.Done = append([]string{}, res.Done...) // JSON has it even where it is empty
			}
			if accept {
				res.Done = append([]string{"took what is stored for the newest operation"}, res.Done...)
			}
			if len(res.Report.Errors) > 0 {
				c.exit = operation.Corrupt.Exit
			}
			return firstError(c.printFsck(res), err)
		})
	})
}

func (c *cli) printFsck(res *repo.RepairResult) error {
	report := res.Report
	out := fsckJSON{
		OK: len(report.Errors) == 0, Blocks: report.Blocks, Errors: []fsckErrorJSON{},
		Repaired: res.Done,
	}
	for _, done := range res.Done {
		if !c.global.json {
			if err := c.printf("%s: %s\n", c.paint(styleYellow, "repaired"), done); err != nil {
				return err
			}
		}
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

package cli

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// branchJSON is one branch, or HEAD where it is on none.
type branchJSON struct {
	Name    string  `json:"name"`
	Commit  *string `json:"commit"`
	Current bool    `json:"current"`
}

// removedJSON is a branch or tag that is no more.
type removedJSON struct {
	Removed string `json:"removed"`
	Commit  string `json:"commit"`
}

// refFlags are the flags of commands that make, move or remove branches or tags.
type refFlags struct {
	remove, force bool
	expect        string
}

func (f *refFlags) add(cmd *cobra.Command, what, force string) {
	cmd.Flags().BoolVarP(&f.remove, "delete", "d", false, "remove "+what)
	cmd.Flags().BoolVarP(&f.force, "force", "f", false, force)
	cmd.Flags().StringVar(&f.expect, "expect", "", "the `CID` of the commit that the name must be "+
		"at, or \"none\" where it must not exist; else exit code 5")
}

func (f *refFlags) options(by repo.Stamp) (repo.RefOptions, error) {
	expect, err := ops.ParseExpect(f.expect)
	return repo.RefOptions{Stamp: by, Force: f.force, Expect: expect}, err
}

func (c *cli) branchCommand() *cobra.Command {
	var f refFlags
	var rename bool
	cmd := &cobra.Command{
		Use:     "branch | branch NAME [REV] | branch -m [OLD] NEW | branch -d NAME",
		GroupID: groupHistory,
		Short:   "List, make, rename or remove branches",
		Long: "Without a name, list the branches: * marks the one that HEAD is on. With a name, make a\n" +
			"branch at a revision, by default at HEAD; HEAD stays where it is, see 'mnem switch'. -m\n" +
			"renames a branch, by default the current one, and what is staged for it follows. -d removes\n" +
			"one whose commits another branch or a tag reaches too. --force moves a branch that exists,\n" +
			"and removes one whose commits nothing else reaches; 'mnem undo' brings it back.\n\n" +
			"With --json, one object a line.",
		Example: "  mnem branch\n  mnem branch draft\n  mnem branch before HEAD~1\n" +
			"  mnem branch -m draft winter\n  mnem branch -d winter",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: c.completeArg(completeBranches),
	}
	c.writeFlags(cmd)
	f.add(cmd, "a branch", "move a branch that exists, remove one that is not merged")
	cmd.Flags().BoolVarP(&rename, "move", "m", false, "rename a branch")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := needOne(cmd, "move", "delete"); err != nil {
			return err
		}
		switch {
		case len(args) == 0 && !rename && !f.remove:
			if err := listOnly(cmd); err != nil {
				return err
			}
			return c.withRepo(cmd, false, c.listBranches)
		case len(args) == 0:
			return usagef("name a branch")
		case f.remove && len(args) > 1:
			return usagef("-d takes one branch, not %d", len(args))
		}
		return c.writeRef(cmd, &f, func(
			ctx context.Context, r *repo.Repo, opt repo.RefOptions,
		) error {
			switch {
			case f.remove:
				return c.removeBranch(ctx, r, args[0], opt)
			case rename:
				return c.renameBranch(ctx, r, args, opt)
			}
			return c.createBranch(ctx, r, args, opt)
		})
	})
}

// listOnly refuses the flags of refFlags where there is no name they could be about.
func listOnly(cmd *cobra.Command) error {
	for _, name := range []string{"force", "expect"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s needs a name: without one '%s' lists", name, cmd.CommandPath())
		}
	}
	return nil
}

// writeRef opens the repository to change a branch or tag.
func (c *cli) writeRef(
	cmd *cobra.Command, f *refFlags,
	fn func(ctx context.Context, r *repo.Repo, opt repo.RefOptions) error,
) error {
	by, err := c.stamp(cmd)
	if err != nil {
		return err
	}
	opt, err := f.options(by)
	if err != nil {
		return err
	}
	return c.withRepo(cmd, true, func(ctx context.Context, r *repo.Repo) error {
		return fn(ctx, r, opt)
	})
}

func (c *cli) listBranches(ctx context.Context, r *repo.Repo) error {
	all, err := r.Branches(ctx)
	if err != nil {
		return err
	}
	var rows [][]cell
	for _, b := range all {
		if c.global.json {
			if err := c.printJSON(branchJSON{b.Name, jsonCID(b.Commit), b.Current}); err != nil {
				return err
			}
			continue
		}
		title, err := titleOf(ctx, r, b.Commit)
		if err != nil {
			return err
		}
		mark, style := " ", ""
		if b.Current {
			mark, style = "*", styleGreen
		}
		rows = append(rows, []cell{
			{mark + " " + line(b.Name), style}, {shortCID(b.Commit), styleYellow}, {title, ""},
		})
	}
	return c.table(rows)
}

// titleOf returns the first line of a commit's message, for people.
func titleOf(ctx context.Context, r *repo.Repo, commit ipld.CID) (string, error) {
	if !commit.Defined() {
		return "no commit yet", nil
	}
	s, err := r.At(ctx, commit)
	if err != nil {
		return "", err
	}
	message, err := s.Message(ctx)
	return brief(firstLine(message), summaryWidth), err
}

func (c *cli) createBranch(
	ctx context.Context, r *repo.Repo, args []string, opt repo.RefOptions,
) error {
	rev := ""
	if len(args) == 2 {
		rev = args[1]
	}
	at, err := r.CreateBranch(ctx, args[0], rev, opt)
	switch {
	case errors.Is(err, fs.ErrExist):
		return hint(already(err, "branch %q", args[0]), "go there with 'mnem switch %s', or move "+
			"it with --force", args[0])
	case err != nil:
		return ops.CommitHint(err)
	}
	return c.printBranch(ctx, r, args[0], at)
}

// printBranch prints a branch after a command made or renamed it.
func (c *cli) printBranch(ctx context.Context, r *repo.Repo, name string, at ipld.CID) error {
	if !c.global.json {
		return c.printf("branch %s is at %s\n", c.paint(styleCyan, line(name)),
			c.paint(styleYellow, shortCID(at)))
	}
	current, _, err := r.Branch(ctx)
	if err != nil {
		return err
	}
	return c.printJSON(branchJSON{name, jsonCID(at), current == name})
}

func (c *cli) renameBranch(
	ctx context.Context, r *repo.Repo, args []string, opt repo.RefOptions,
) error {
	from, to := "", args[len(args)-1]
	if len(args) == 2 {
		from = args[0]
	}
	err := r.RenameBranch(ctx, from, to, opt)
	if errors.Is(err, fs.ErrExist) {
		return hint(already(err, "branch %q", to), "replace it with --force")
	}
	if err != nil {
		return err
	}
	all, err := r.Branches(ctx)
	if err != nil {
		return err
	}
	for _, b := range all {
		if b.Name == to {
			return c.printBranch(ctx, r, to, b.Commit)
		}
	}
	return nil
}

func (c *cli) removeBranch(
	ctx context.Context, r *repo.Repo, name string, opt repo.RefOptions,
) error {
	was, err := r.RemoveBranch(ctx, name, opt)
	var used *repo.InUseError
	switch {
	case errors.As(err, &used) && used.Forced:
		return hint(err, "remove it all the same with --force")
	case errors.As(err, &used):
		return hint(err, "go elsewhere first with 'mnem switch'")
	case err != nil:
		return err
	}
	if c.global.json {
		return c.printJSON(removedJSON{name, was.String()})
	}
	return c.printf("branch %s, which was at %s, is removed\n", line(name),
		c.paint(styleYellow, shortCID(was)))
}

// firstLine is what a message begins with.
func firstLine(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return first
}

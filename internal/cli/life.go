package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// markFlags are the flags of verbs that mark.
type markFlags struct {
	commitFlags
	reason string
}

func (f *markFlags) add(c *cli, cmd *cobra.Command) {
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	c.secretFlag(cmd)
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, `TEXT`: it is kept with the mark")
	cmd.Flags().StringVarP(&f.message, "message", "m", "", "what the commit is about; default: what "+
		"was done")
	cmd.Flags().StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be "+
		"at; else exit code 5")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would change and write nothing")
}

// marking runs a verb that marks nodes.
func (c *cli) marking(
	cmd *cobra.Command, f *markFlags, state graph.State,
	fn func(context.Context, *memory.Memory, repo.CommitOptions) (*memory.MarkResult, error),
) error {
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Message: f.message, Branch: c.branch()}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		res, err := fn(ctx, memory.New(to), opt)
		if err != nil {
			return ops.MarkHint(err)
		}
		return c.printMarking(ctx, to, res, state, f.dryRun)
	})
}

func idTexts(ids []graph.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.String()
	}
	return out
}

// printMarking prints what came of marking in a repository; state is "" where marks were taken off.
func (c *cli) printMarking(
	ctx context.Context, r *repo.Repo, res *memory.MarkResult, state graph.State, dryRun bool,
) error {
	m, err := ops.MarkedOf(ctx, r, res, state, dryRun, !c.global.json)
	switch {
	case err != nil:
		return err
	case c.global.json:
		return c.printJSON(m)
	}
	return c.printMarked(m)
}

// printMarked prints what a verb that marks nodes did.
func (c *cli) printMarked(m *ops.Marked) error {
	c.warnSecrets(m.Warnings)
	state, already := "", "no mark"
	if m.State != nil {
		state = string(*m.State)
		already = state + " already"
	}
	for _, part := range []struct {
		ids  []graph.ID
		what string
	}{{m.Marked, state}, {m.Unmarked, "unmarked"}, {m.Already, already}} {
		for _, id := range part.ids {
			about := ""
			if n := m.Labels[id]; n != nil {
				about = label(n) + "  " + c.paint(styleDim, brief(n.Summary, summaryWidth))
			}
			if err := c.printf("%s  %s\n", part.what, strings.TrimRight(about, " ")); err != nil {
				return err
			}
		}
	}
	switch n := len(m.Marked) + len(m.Unmarked); {
	case m.NoChange:
		return c.printf("nothing to commit\n")
	case m.DryRun:
		return c.printf("would commit %s\n", plural(n, "mark"))
	default:
		return c.printf("[%s %s] %s\n", c.paint(styleCyan, line(m.Branch)),
			c.paint(styleYellow, shortCID(m.Commit)), plural(n, "mark"))
	}
}

// nowFlag reads the value of --now, the time of the change where it was not given.
func (c *cli) nowFlag(s string) (graph.Time, error) {
	if s == "" {
		return c.now()
	}
	t, err := graph.ParseTime(s)
	if err != nil {
		return 0, usagef("--now: %w", err)
	}
	return t, nil
}

// restoreMarks takes the marks off nodes.
func (c *cli) restoreMarks(cmd *cobra.Command, names []string, f *markFlags) error {
	return c.marking(cmd, f, "", func(
		ctx context.Context, m *memory.Memory, opt repo.CommitOptions,
	) (*memory.MarkResult, error) {
		return m.Unmark(ctx, opt, memory.UnmarkRequest{Nodes: names, Reason: f.reason})
	})
}

// branchHead returns the newest state of a branch, "" for where HEAD is.
func branchHead(ctx context.Context, r *repo.Repo, branch string) (*repo.Snapshot, error) {
	if branch != "" {
		return r.Snapshot(ctx, string(graph.BranchRef(branch)))
	}
	_, at, err := r.Branch(ctx)
	if err != nil {
		return nil, err
	}
	return r.At(ctx, at)
}

// restoreKind says what the arguments of restore are: names of nodes alone, or a revision before
// them. One that may be either is refused: the one would do something else than the other.
func restoreKind(
	ctx context.Context, r *repo.Repo, args []string, branch string,
) (marks bool, err error) {
	_, revErr := r.Resolve(ctx, args[0])
	s, err := branchHead(ctx, r, branch)
	if err != nil {
		return false, err
	}
	_, err = s.Name(ctx, args[0])
	var missing *repo.NotFoundError
	switch {
	case err == nil && revErr == nil && len(args) > 1:
		return false, hint(usagef("%q names a revision and a node", args[0]), "give key:%s or id:%s for "+
			"the node, or %s~0 for the revision", args[0], args[0], args[0])
	case revErr == nil && len(args) > 1:
		return false, nil
	case err == nil:
		return true, nil
	case revErr == nil:
		return false, hint(usagef("no NODE to restore from %q", args[0]),
			"name nodes to take their marks off, or a revision and nodes to bring them back as they were")
	case errors.As(err, &missing) && len(args) > 1:
		return false, hint(revErr, "%q is no node either; 'mnem ls' lists them", args[0])
	case errors.As(err, &missing):
		return true, nil // whoever takes marks off says what it is
	}
	return false, err
}

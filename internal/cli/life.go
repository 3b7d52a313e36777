package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// markedJSON is what a verb that marks nodes did.
type markedJSON struct {
	State    *graph.State `json:"state"` // null where marks were taken off
	Marked   []string     `json:"marked"`
	Already  []string     `json:"already"`
	Unmarked []string     `json:"unmarked"`
	Commit   *string      `json:"commit"`
	Branch   string       `json:"branch"`
	Graph    *string      `json:"graph"`
	NoChange bool         `json:"no_change"`
	DryRun   bool         `json:"dry_run"`

	Warnings []secretWarningJSON `json:"warnings,omitempty"`
}

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
	if opt.Expect, err = parseExpect(f.expect); err != nil {
		return err
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		res, err := fn(ctx, memory.New(to), opt)
		if err != nil {
			return markHint(err)
		}
		return c.printMarked(ctx, to, res, state, f.dryRun)
	})
}

// markHint says what to do about a node that cannot be marked.
func markHint(err error) error {
	var in *memory.StateError
	var edge *memory.EdgeError
	switch {
	case errors.As(err, &in):
		return hint(err, "'mnem get %s --include %s' shows it; 'mnem restore %s' takes the mark off",
			in.Node, in.State, in.Node)
	case errors.As(err, &edge):
		return hint(err, "to hide it, commit a line {\"mark\":{\"edge\":{\"id\":\"%s\"},\"state\":\"forgotten\"}}; "+
			"to remove it, 'mnem unlink %s %s %s'", edge.Edge.ID, edge.Edge.Src, edge.Edge.Type,
			edge.Edge.Dst)
	case errors.Is(err, store.ErrNotFound):
		return nodeHint(err)
	}
	return err
}

func idTexts(ids []graph.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.String()
	}
	return out
}

// printMarked prints what came of marking; state is "" where marks were taken off.
func (c *cli) printMarked(
	ctx context.Context, r *repo.Repo, res *memory.MarkResult, state graph.State, dryRun bool,
) error {
	c.warnSecrets(res.Secrets)
	if c.global.json {
		out := markedJSON{
			Marked: idTexts(res.Marked), Already: idTexts(res.Already), Unmarked: idTexts(res.Unmarked),
			Commit: jsonCID(res.Commit), Branch: res.Branch, Graph: jsonCID(res.Graph),
			NoChange: res.NoChange, DryRun: dryRun, Warnings: secretWarnings(res.Secrets),
		}
		if state != "" {
			out.State = &state
		}
		if dryRun && !res.NoChange {
			out.Commit = nil // its time would be another
		}
		return c.printJSON(out)
	}
	return c.markedText(ctx, r, res, state, dryRun)
}

func (c *cli) markedText(
	ctx context.Context, r *repo.Repo, res *memory.MarkResult, state graph.State, dryRun bool,
) error {
	s, err := r.At(ctx, res.Commit)
	if err != nil {
		return err
	}
	names := newLabels(s)
	rows := func(ids []graph.ID, what string) error {
		for _, id := range ids {
			n, err := names.node(ctx, id)
			if err != nil {
				return err
			}
			about := ""
			if n != nil {
				about = label(n) + "  " + c.paint(styleDim, brief(n.Summary, summaryWidth))
			}
			if err := c.printf("%s  %s\n", what, strings.TrimRight(about, " ")); err != nil {
				return err
			}
		}
		return nil
	}
	already := "no mark"
	if state != "" {
		already = string(state) + " already"
	}
	if err := firstError(rows(res.Marked, string(state)), rows(res.Unmarked, "unmarked"),
		rows(res.Already, already)); err != nil {
		return err
	}
	switch n := len(res.Marked) + len(res.Unmarked); {
	case res.NoChange:
		return c.printf("nothing to commit\n")
	case dryRun:
		return c.printf("would commit %s\n", plural(n, "mark"))
	default:
		return c.printf("[%s %s] %s\n", c.paint(styleCyan, line(res.Branch)),
			c.paint(styleYellow, shortCID(res.Commit)), plural(n, "mark"))
	}
}

// markVerb makes a command that marks the nodes that it is given.
func (c *cli) markVerb(cmd *cobra.Command, state graph.State) *cobra.Command {
	var f markFlags
	cmd.GroupID, cmd.Args = groupChange, cobra.MinimumNArgs(1)
	f.add(c, cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.marking(cmd, &f, state, func(
			ctx context.Context, m *memory.Memory, opt repo.CommitOptions,
		) (*memory.MarkResult, error) {
			return m.Mark(ctx, opt, memory.MarkRequest{State: state, Nodes: args, Reason: f.reason})
		})
	})
}

func (c *cli) forgetCommand() *cobra.Command {
	return c.markVerb(&cobra.Command{
		Use:   "forget NODE…",
		Short: "Hide memories from every retrieval",
		Long: "Mark nodes as forgotten, in one commit. No retrieval of the branch finds or shows what is\n" +
			"forgotten, whatever leads to it; --include forgotten of the commands that read lets it\n" +
			"through, and older commits have it as it was. 'mnem restore NODE' and 'mnem undo' bring it\n" +
			"back. To erase the text itself, for good and from every commit, is 'mnem purge'.",
		Example: "  mnem forget bruno --reason 'he was only a test'\n  mnem forget alice bob --dry-run",
	}, graph.Forgotten)
}

func (c *cli) staleCommand() *cobra.Command {
	return c.markVerb(&cobra.Command{
		Use:   "stale NODE…",
		Short: "Mark memories as to be checked again",
		Long: "Mark nodes as stale, in one commit: they may be out of date and are to be checked. They are\n" +
			"found and shown as before, with a line that says so. 'mnem restore NODE' takes the mark off.",
		Example: "  mnem stale svc/billing --reason 'the service was rewritten'",
	}, graph.Stale)
}

func (c *cli) retireCommand() *cobra.Command {
	return c.markVerb(&cobra.Command{
		Use:   "retire NODE…",
		Short: "Hide memories that are of no use any more",
		Long: "Mark nodes as retired, in one commit: they are true, but of no use any more. They are hidden\n" +
			"like what is forgotten; --include retired lets them through.",
		Example: "  mnem retire task/KM-402 meeting/2026-09-01 --reason 'the project ended'",
	}, graph.Retired)
}

func (c *cli) supersedeCommand() *cobra.Command {
	var f markFlags
	cmd := &cobra.Command{
		Use:     "supersede OLD… NEW",
		GroupID: groupChange,
		Short:   "Let a memory take the place of others",
		Long: "Mark nodes as superseded by the last one, in one commit. What is superseded keeps its text,\n" +
			"its properties and its edges, and is hidden; --include superseded lets it through. NEW must be\n" +
			"visible itself. Where the two contradicted each other, that is settled: NEW's mark goes.",
		Example: "  mnem supersede db/marlin db/ledger-pg --reason 'it moved there'\n" +
			"  mnem supersede alice bruno bob --dry-run",
		Args: cobra.MinimumNArgs(2),
	}
	f.add(c, cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.marking(cmd, &f, graph.Superseded, func(
			ctx context.Context, m *memory.Memory, opt repo.CommitOptions,
		) (*memory.MarkResult, error) {
			last := len(args) - 1
			return m.Mark(ctx, opt, memory.MarkRequest{State: graph.Superseded, Nodes: args[:last],
				By: args[last], Reason: f.reason})
		})
	})
}

func (c *cli) contradictCommand() *cobra.Command {
	var f markFlags
	cmd := &cobra.Command{
		Use:     "contradict A B",
		GroupID: groupChange,
		Short:   "Say that two memories cannot both be true",
		Long: "Mark two nodes as contradicted by each other, in one commit. Both are found as before, and\n" +
			"where a retrieval shows one of them, the other follows right behind it. Superseding, forgetting\n" +
			"or retiring one of them settles it, and 'mnem restore A' takes both marks off. A node that is\n" +
			"contradicted by a third one keeps that mark.",
		Example: "  mnem contradict decision/keep-marlin meeting/2026-09-01 --reason 'one of the two is wrong'",
		Args:    cobra.ExactArgs(2),
	}
	f.add(c, cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.marking(cmd, &f, graph.Contradicted, func(
			ctx context.Context, m *memory.Memory, opt repo.CommitOptions,
		) (*memory.MarkResult, error) {
			return m.Mark(ctx, opt, memory.MarkRequest{State: graph.Contradicted, Nodes: args[:1],
				By: args[1], Reason: f.reason})
		})
	})
}

func (c *cli) expireCommand() *cobra.Command {
	var f markFlags
	var now string
	cmd := &cobra.Command{
		Use:     "expire [NODE…]",
		GroupID: groupChange,
		Short:   "Hide memories whose time has passed",
		Long: "Mark nodes as expired, in one commit: those, of all or of the NODEs, whose property expires\n" +
			"or whose validTo is not after --now. They are hidden; --include expired lets them through.\n" +
			"What is hidden already stays as it is. Without NODEs every node is read.",
		Example: "  mnem expire\n  mnem expire --now 2026-12-31 --dry-run",
	}
	f.add(c, cmd)
	cmd.Flags().StringVar(&now, "now", "", "`TIME` that counts as now, RFC 3339 or YYYY-MM-DD (default: "+
		"the time of the change)")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		at, err := c.nowFlag(now)
		if err != nil {
			return err
		}
		return c.marking(cmd, &f, graph.Expired, func(
			ctx context.Context, m *memory.Memory, opt repo.CommitOptions,
		) (*memory.MarkResult, error) {
			return m.Expire(ctx, opt, memory.ExpireRequest{Now: at, Nodes: args, Reason: f.reason})
		})
	})
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

package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

// refMoveJSON is one ref that differs: CIDs, or the name of the branch HEAD is on; null for none.
type refMoveJSON struct {
	Ref  string  `json:"ref"`
	From *string `json:"from"`
	To   *string `json:"to"`
}

// opJSON is one operation.
type opJSON struct {
	Op      string        `json:"op"`
	Seq     uint64        `json:"seq"`
	Time    string        `json:"time"`
	Actor   string        `json:"actor"`
	Command []string      `json:"command"`
	Refs    []refMoveJSON `json:"refs"`
	Undoes  *string       `json:"undoes"`           // the operation it took back
	Redoes  *string       `json:"redoes"`           // the undo it took back
	Undone  *bool         `json:"undone,omitempty"` // whether it is taken back; in the log alone
	Oldest  bool          `json:"oldest,omitempty"` // what came before is collected: its refs are not known
}

func jsonMoves(moves []repo.RefMove) []refMoveJSON {
	out := make([]refMoveJSON, len(moves))
	for i, m := range moves {
		out[i] = refMoveJSON{string(m.Name), orNull(m.From.Value()), orNull(m.To.Value())}
	}
	return out
}

func jsonOp(e repo.OpRecord, undone *bool) opJSON {
	o := e.Operation
	return opJSON{
		Op: e.CID.String(), Seq: o.Seq, Time: o.Time.String(), Actor: o.Actor, Command: o.Command,
		Refs: jsonMoves(e.Refs), Undoes: jsonCID(o.Undoes), Redoes: jsonCID(o.Redoes),
		Undone: undone, Oldest: e.Oldest,
	}
}

func (c *cli) opCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "op",
		GroupID: groupHistory,
		Short:   "Look at the operation log, and go back in it",
		Long: "Every change of a ref is an operation: commits, branches, tags, what is staged, sessions. The\n" +
			"log keeps them in order, and each state of the refs can be seen and restored. An operation\n" +
			"is named by its number, its CID or a unique prefix of that, or @ for the newest; OP~N is the\n" +
			"N-th before it.",
		Example: "  mnem op log -n 5\n  mnem op show @\n  mnem op diff @~1 @\n  mnem op restore @~1",
	}
	return c.parent(cmd, c.opLog(), c.opShow(), c.opDiff(), c.opRestore())
}

func (c *cli) opLog() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "log [flags]",
		Short: "List operations, newest first",
		Long: "List operations, newest first: number, time, actor, command, and the refs that each moved.\n" +
			"With --json, one object a line.",
		Example: "  mnem op log\n  mnem op log -n 5 --json",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "at most `N` operations; 0 for all")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		if limit < 0 {
			return usagef("--limit: %d is below 0", limit)
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			n := 0
			undone := make(map[ipld.CID]bool)
			for e, err := range r.Operations(ctx) {
				if err != nil {
					return err
				}
				taken := undone[e.CID]
				delete(undone, e.CID)
				if back := e.Reverses(); back.Defined() && !taken {
					undone[back] = true
				}
				if err := c.printOp(e, &taken); err != nil {
					return err
				}
				if n++; n == limit {
					break
				}
			}
			return nil
		})
	})
}

// printOp prints one operation. undone tells whether it is taken back, nil where that is not known.
func (c *cli) printOp(e repo.OpRecord, undone *bool) error {
	if c.global.json {
		return c.printJSON(jsonOp(e, undone))
	}
	o := e.Operation
	words := make([]string, len(o.Command))
	for i, w := range o.Command {
		words[i] = line(w)
	}
	text := c.paint(styleYellow, strconv.FormatUint(o.Seq, 10)) + " " +
		c.paint(styleDim, o.Time.String()) + " " + line(o.Actor) + ": " + strings.Join(words, " ")
	switch {
	case o.Undoes.Defined():
		text += ", undoes " + shortCID(o.Undoes)
	case o.Redoes.Defined():
		text += ", redoes what " + shortCID(o.Redoes) + " undid"
	}
	if undone != nil && *undone {
		text += " (undone)"
	}
	if err := c.printf("%s\n", text); err != nil {
		return err
	}
	if e.Oldest {
		return c.printf("  what came before was collected\n")
	}
	return c.printMoves(e.Refs)
}

// printMoves prints refs that differ, one a line.
func (c *cli) printMoves(moves []repo.RefMove) error {
	for _, m := range moves {
		if err := c.printf("  %s  %s -> %s\n", line(string(m.Name)), c.refText(m.From),
			c.refText(m.To)); err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) refText(ref repo.Ref) string {
	if ref.Symbolic != "" {
		return line(strings.TrimPrefix(string(ref.Symbolic), graph.Heads))
	}
	return c.paint(styleYellow, shortCID(ref.Target))
}

func (c *cli) opShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [OP]",
		Short: "Print one operation",
		Long: "Print one operation, by default the newest, with its CID and the refs that it moved. To see\n" +
			"what it did to the memory, give 'mnem diff' the two commits of a branch.",
		Example: "  mnem op show\n  mnem op show 2\n  mnem op show @~1 --json",
		Args:    cobra.MaximumNArgs(1),
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			e, err := r.Operation(ctx, firstOf(append(args, newestOp)...))
			if err != nil {
				return err
			}
			if !c.global.json {
				if err := c.printf("operation %s\n", e.CID); err != nil {
					return err
				}
			}
			return c.printOp(e, nil)
		})
	})
}

// newestOp names the newest operation.
const newestOp = "@"

// opDiffJSON are the refs that differ between how two operations left them.
type opDiffJSON struct {
	From opNameJSON    `json:"from"`
	To   opNameJSON    `json:"to"`
	Refs []refMoveJSON `json:"refs"`
}

// opNameJSON tells which operation is meant.
type opNameJSON struct {
	Op  string `json:"op"`
	Seq uint64 `json:"seq"`
}

func jsonOpName(e repo.OpRecord) opNameJSON { return opNameJSON{e.CID.String(), e.Operation.Seq} }

func (c *cli) opDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "diff A [B]",
		Short:   "Compare the refs after two operations",
		Long:    "List the refs that differ between how operation A left them and how B, by default the newest,\ndid.",
		Example: "  mnem op diff 2\n  mnem op diff @~1 @ --json",
		Args:    cobra.RangeArgs(1, 2),
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		args = append(args, newestOp)[:2]
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			moves, err := r.DiffOperations(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			if !c.global.json {
				return c.printMoves(moves)
			}
			out := opDiffJSON{Refs: jsonMoves(moves)}
			for i, to := range []*opNameJSON{&out.From, &out.To} {
				e, err := r.Operation(ctx, args[i])
				if err != nil {
					return err
				}
				*to = jsonOpName(e)
			}
			return c.printJSON(out)
		})
	})
}

func (c *cli) opRestore() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore OP",
		Short: "Bring all refs back to how an operation left them",
		Long: "Give HEAD, branches, tags, stages and merges in progress the values they had after an operation.\n" +
			"That is an operation itself: 'mnem undo' takes it back. Sessions stay as they are.",
		Example: "  mnem op restore 2\n  mnem op restore @~1",
		Args:    cobra.ExactArgs(1),
	}
	c.writeFlags(cmd)
	c.headFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.write(cmd, func(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
			res, err := r.RestoreOperation(ctx, args[0], by)
			if err != nil {
				return err
			}
			return c.printUndone(ctx, r, res, "restored")
		})
	})
}

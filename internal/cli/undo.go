package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// undoneJSON is what undo, redo and op restore did.
type undoneJSON struct {
	Op      *string       `json:"op"`      // null where nothing had to change
	Did     string        `json:"did"`     // undone, redone or restored
	Of      opNameJSON    `json:"of"`      // the operation undone, the undo taken back, or the state restored
	Command []string      `json:"command"` // of that operation
	Refs    []refMoveJSON `json:"refs"`    // what moved
}

func (c *cli) undoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "undo [OP]",
		GroupID: groupHistory,
		Short:   "Take back an operation",
		Long: "Take back what one operation did to branches, tags, HEAD and what is staged: by default the\n" +
			"newest that is not taken back yet, so that undoing N times goes N changes back. To take back\n" +
			"an undo is to redo; see also 'mnem redo'. Nothing is lost: undo is an operation itself, and\n" +
			"commits stay reachable through the log. Sessions are never taken back.\n\n" +
			"An operation whose refs another one moved since cannot be taken back alone: exit code 5.",
		Example: "  mnem undo\n  mnem undo @\n  mnem undo 3",
		Args:    cobra.MaximumNArgs(1),
	}
	return c.takeBack(cmd, func(
		ctx context.Context, r *repo.Repo, args []string, by repo.Stamp,
	) (*repo.Undone, error) {
		return r.Undo(ctx, firstOf(args...), by)
	})
}

func (c *cli) redoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "redo",
		GroupID: groupHistory,
		Short:   "Take back the last undo",
		Long: "Do again what the last undo took back, the one before it when repeated, and so on. Where\n" +
			"something else has moved the same refs since, that is a conflict: exit code 5.",
		Example: "  mnem undo && mnem redo",
		Args:    cobra.NoArgs,
	}
	return c.takeBack(cmd, func(
		ctx context.Context, r *repo.Repo, _ []string, by repo.Stamp,
	) (*repo.Undone, error) {
		return r.Redo(ctx, by)
	})
}

// takeBack finishes a command that takes back an operation.
func (c *cli) takeBack(
	cmd *cobra.Command,
	do func(context.Context, *repo.Repo, []string, repo.Stamp) (*repo.Undone, error),
) *cobra.Command {
	c.writeFlags(cmd)
	c.headFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.write(cmd, func(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
			res, err := do(ctx, r, args, by)
			if err != nil {
				return undoHint(err)
			}
			did := "undone"
			if res.Redo {
				did = "redone"
			}
			if res.Passed > 0 && len(args) == 0 && !res.Redo {
				c.remark("passed over operation %d, a purge, which is for ever", res.Passed)
			}
			return c.printUndone(ctx, r, res, did)
		})
	})
}

func undoHint(err error) error {
	var moved *repo.UndoError
	switch {
	case errors.As(err, &moved) && moved.Purge:
		return hint(err, "go back to what was before with 'mnem op restore %d': what was purged stays "+
			"erased", moved.Seq-1)
	case moved != nil:
		return hint(err, "take that back first with 'mnem undo %d', or go back further with "+
			"'mnem op restore %d'", moved.By, moved.Seq-1)
	}
	return err
}

func (c *cli) printUndone(
	ctx context.Context, r *repo.Repo, res *repo.Undone, did string,
) error {
	if c.global.json {
		return c.printJSON(undoneJSON{
			Op: jsonCID(res.Operation), Did: did, Of: jsonOpName(res.Of),
			Command: res.Of.Operation.Command, Refs: jsonMoves(res.Refs),
		})
	}
	if !res.Operation.Defined() {
		return c.printf("all refs are as operation %d left them\n", res.Of.Operation.Seq)
	}
	seq, verb := res.Of.Operation.Seq, line(res.Of.Operation.Command[0])
	if undoes := res.Of.Operation.Undoes; did == "redone" && undoes.Defined() {
		again, err := r.Operation(ctx, undoes.String())
		switch {
		case err == nil:
			seq, verb = again.Operation.Seq, line(again.Operation.Command[0])
		case !errors.Is(err, store.ErrNotFound): // it may be behind the horizon
			return err
		}
	}
	if err := c.printf("%s operation %d (%s)\n", did, seq, verb); err != nil {
		return err
	}
	return c.printMoves(res.Refs)
}

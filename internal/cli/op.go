package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
)

func (c *cli) opCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "op",
		GroupID: groupHistory,
		Short:   "Inspect the operation log and restore earlier states",
		Long: "Every change of a ref is an operation: commits, branches, tags, what is staged, sessions. The\n" +
			"log keeps them in order, and each state of the refs can be seen and restored. An operation\n" +
			"is named by its number, its CID or a unique prefix of that, or @ for the newest; OP~N is the\n" +
			"N-th before it.",
		Example: "  mnem op log -n 5\n  mnem op show @\n  mnem op diff @~1 @\n  mnem op restore @~1",
	}
	return c.parent(cmd, c.verb("op log"), c.verb("op show"), c.verb("op diff"), c.verb("op restore"))
}

// printOp prints one operation of the log.
func (c *cli) printOp(o *ops.Op) error {
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
	if o.Undone != nil && *o.Undone {
		text += " (undone)"
	}
	if err := c.printf("%s\n", text); err != nil {
		return err
	}
	if o.Oldest {
		return c.printf("  what came before was collected\n")
	}
	return c.printMoves(o.Refs)
}

func (c *cli) printOneOp(o *ops.Op) error {
	return firstError(c.printf("operation %s\n", o.Op), c.printOp(o))
}

func (c *cli) printOpDiff(d *ops.OpDiffered) error { return c.printMoves(d.Refs) }

// printMoves prints refs that differ, one a line.
func (c *cli) printMoves(moves []ops.RefMove) error {
	for _, m := range moves {
		if err := c.printf("  %s  %s -> %s\n", line(m.Ref), c.refText(string(m.From)),
			c.refText(string(m.To))); err != nil {
			return err
		}
	}
	return nil
}

// refText is the value of a ref: a CID, or the name of a branch.
func (c *cli) refText(value string) string {
	at, err := ipld.ParseCID(value)
	if err != nil && value != "" {
		return line(strings.TrimPrefix(value, graph.Heads))
	}
	return c.paint(styleYellow, shortCID(at))
}

// printUndone prints what undo, redo and op restore did.
func (c *cli) printUndone(u *ops.Undone) error {
	if u.Passed > 0 {
		c.remark("passed over operation %d, a purge, which is for ever", u.Passed)
	}
	if !u.Op.Defined() {
		return c.printf("all refs are as operation %d left them\n", u.Of.Seq)
	}
	return firstError(c.printf("%s operation %d (%s)\n", u.Did, u.Seq, line(u.Verb)), c.printMoves(u.Refs))
}

package show

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
)

// Op prints one operation of the log.
func (c *Console) Op(o *ops.Op) error {
	words := make([]string, len(o.Command))
	for i, w := range o.Command {
		words[i] = line(w)
	}
	text := c.Paint(Yellow, strconv.FormatUint(o.Seq, 10)) + " " +
		c.Paint(Dim, o.Time.String()) + " " + line(o.Actor) + ": " + strings.Join(words, " ")
	switch {
	case o.Undoes.Defined():
		text += ", undoes " + ShortCID(o.Undoes)
	case o.Redoes.Defined():
		text += ", redoes what " + ShortCID(o.Redoes) + " undid"
	}
	if o.Undone != nil && *o.Undone {
		text += " (undone)"
	}
	c.put("%s\n", text)
	if o.Oldest {
		return c.Printf("  what came before was collected\n")
	}
	return c.printMoves(o.Refs)
}

func (c *Console) OneOp(o *ops.Op) error {
	return cmp.Or(c.Printf("operation %s\n", o.Op), c.Op(o))
}

func (c *Console) OpDiff(d *ops.OpDiffered) error { return c.printMoves(d.Refs) }

// printMoves prints refs that differ, one a line.
func (c *Console) printMoves(moves []ops.RefMove) error {
	for _, m := range moves {
		c.put("  %s  %s -> %s\n", line(m.Ref), c.refText(string(m.From)),
			c.refText(string(m.To)))
	}
	return nil
}

// refText is the value of a ref: a CID, or the name of a branch.
func (c *Console) refText(value string) string {
	at, err := ipld.ParseCID(value)
	if err != nil && value != "" {
		return line(strings.TrimPrefix(value, graph.Heads))
	}
	return c.commit(at)
}

// Undone prints what undo, redo and op restore did.
func (c *Console) Undone(u *ops.Undone) error {
	if u.Passed > 0 {
		c.Remark("passed over operation %d, a purge, which is for ever", u.Passed)
	}
	if !u.Op.Defined() {
		return c.Printf("all refs are as operation %d left them\n", u.Of.Seq)
	}
	return cmp.Or(c.Printf("%s operation %d (%s)\n", u.Did, u.Seq, line(u.Verb)), c.printMoves(u.Refs))
}

package show

import (
	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) PackRefs(a *ops.PackRefsAnswer) error {
	var rows [][]Cell
	for _, ref := range a.Refs {
		mark := " "
		if string(ref.Ref) == string(a.Head) {
			mark = "*"
		}
		rows = append(rows, []Cell{{mark + " " + line(string(ref.Ref)), Cyan}, {ref.Target.String(), Yellow}})
	}
	for _, known := range a.Known {
		rows = append(rows, []Cell{{"has", ""}, {known.String(), Yellow}})
	}
	return c.Table(rows)
}

func (c *Console) PackSent(a *ops.PackSent) error {
	if a.File == "-" {
		c.Remark("packed %s", plain.Bytes(a.Bytes))
		return nil
	}
	return c.Printf("packed %s into %s\n", plain.Bytes(a.Bytes), line(a.File))
}

func (c *Console) PackTaken(a *ops.PackTaken) error {
	if err := c.printRefMoves(a.Refs); err != nil {
		return err
	}
	did := "changed"
	if a.DryRun {
		did = "would change"
	}
	return c.Printf("%s %s, %s new\n", did, plural(len(a.Refs), "ref"), plural(a.NewBlocks, "block"))
}

func (c *Console) PackRedactions(a *ops.PackRedactionsAnswer) error {
	if err := c.printTold(a.Redactions); err != nil || !a.More {
		return err
	}
	c.Remark("note: there are more: go on with --after %s", a.Redactions[len(a.Redactions)-1].CID)
	return nil
}

// printTold prints redactions.
func (c *Console) printTold(list []ops.ToldRedaction) error {
	var rows [][]Cell
	for _, r := range list {
		rows = append(rows, []Cell{{r.CID.String(), Yellow}, {r.What, ""}, {r.Time.String(), Dim},
			{line(string(r.Actor)), Cyan}, {line(string(r.Reason)), ""}})
	}
	return c.Table(rows)
}

func (c *Console) PackRedacted(a *ops.PackRedacted) error {
	did := "erased"
	if a.DryRun {
		did = "would erase"
	}
	c.put("%s %s, closed %s, left %d\n", did, plural(len(a.Erased), "block"), plural(len(a.Closed), "gap"),
		len(a.Left))
	if a.ErasurePending {
		c.Remark("warning: the bytes are still in the files: the disk has no room to write these anew")
	}
	return nil
}

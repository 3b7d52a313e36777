package cli

import (
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
)

func (c *cli) packCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "pack",
		GroupID: groupTrade,
		Short:   "Low-level steps of a transfer between repositories",
		Long: "'mnem fetch', 'mnem push' and 'mnem sync' ask another repository these questions, in a\n" +
			"directory or by a server: what it has, to send what is lacking here, to take in what is\n" +
			"lacking there, and what was erased. They carry packs by any other way too, as on a disk.",
		Example: "  mnem pack refs\n  mnem pack send --ref refs/heads/main -o main.pack\n" +
			"  mnem pack take --set refs/heads/old=any..none",
	}
	return c.parent(cmd, c.verb("pack refs"), c.verb("pack send"), c.verb("pack take"), c.verb("pack redactions"),
		c.verb("pack redact"))
}

func (c *cli) printPackRefs(a *ops.PackRefsAnswer) error {
	var rows [][]cell
	for _, ref := range a.Refs {
		mark := " "
		if string(ref.Ref) == string(a.Head) {
			mark = "*"
		}
		rows = append(rows, []cell{{mark + " " + line(string(ref.Ref)), styleCyan}, {ref.Target.String(), styleYellow}})
	}
	for _, known := range a.Known {
		rows = append(rows, []cell{{"has", ""}, {known.String(), styleYellow}})
	}
	return c.table(rows)
}

func (c *cli) printPackSent(a *ops.PackSent) error {
	if a.File == stdinName {
		c.remark("packed %s", bytesText(a.Bytes))
		return nil
	}
	return c.printf("packed %s into %s\n", bytesText(a.Bytes), line(a.File))
}

func (c *cli) printPackTaken(a *ops.PackTaken) error {
	if err := c.printRefMoves(a.Refs); err != nil {
		return err
	}
	did := "changed"
	if a.DryRun {
		did = "would change"
	}
	return c.printf("%s %s, %s new\n", did, plural(len(a.Refs), "ref"), plural(a.NewBlocks, "block"))
}

func (c *cli) printPackRedactions(a *ops.PackRedactionsAnswer) error {
	if err := c.printTold(a.Redactions); err != nil || !a.More {
		return err
	}
	c.remark("note: there are more: go on with --after %s", a.Redactions[len(a.Redactions)-1].CID)
	return nil
}

// printTold prints redactions.
func (c *cli) printTold(list []ops.ToldRedaction) error {
	var rows [][]cell
	for _, r := range list {
		rows = append(rows, []cell{{r.CID.String(), styleYellow}, {r.What, ""}, {r.Time.String(), styleDim},
			{line(string(r.Actor)), styleCyan}, {line(string(r.Reason)), ""}})
	}
	return c.table(rows)
}

func (c *cli) printPackRedacted(a *ops.PackRedacted) error {
	did := "erased"
	if a.DryRun {
		did = "would erase"
	}
	if err := c.printf("%s %s, closed %s, left %d\n", did, plural(len(a.Erased), "block"), plural(len(a.Closed), "gap"),
		len(a.Left)); err != nil {
		return err
	}
	if a.ErasurePending {
		c.remark("warning: the bytes are still in the files: the disk has no room to write these anew")
	}
	return nil
}

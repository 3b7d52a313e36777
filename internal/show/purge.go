package show

import (
	"cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Purged(p *ops.Purged) error {
	verb := "erased"
	switch {
	case p.DryRun:
		verb = "would erase"
	case p.ErasurePending:
		verb = "redacted"
	}
	ofText := p.Node.IsZero()
	what := "with the text"
	if !ofText {
		what = "of node " + p.Node.String()
	}
	err := c.Printf("%s %s %s\n", verb, plural(len(p.Redacted), "block"), what)
	if err == nil && p.ErasurePending {
		err = c.Printf("erasure pending: the disk has no room to write the files anew that still have " +
			"its bytes;\nmake some, and 'mnem gc' or the next command that writes goes on\n")
	}
	if err != nil {
		return err
	}
	var rows [][]Cell
	row := func(what, name string) {
		rows = append(rows, []Cell{{what, Dim}, {line(name), ""}})
	}
	for _, ref := range p.Branches {
		row("removed from branch", string(ref.Ref[len(graph.Heads):]))
	}
	for _, s := range p.Stages {
		row("removed from stage", s)
	}
	for _, id := range p.Derived {
		row("with it, which nothing else led to, node", id.String())
	}
	if ofText {
		for _, h := range p.Redacted {
			row(h.What, cmp.Or(string(h.Name), h.CID.String()))
		}
	}
	for _, h := range p.Shared {
		row("kept, another node has the same "+h.What, h.CID.String())
	}
	for _, h := range p.Hits {
		what := "its words are also in "
		if ofText {
			what = "kept, as it cannot be erased: "
		}
		row(what+h.What, cmp.Or(string(h.Name), h.CID.String()))
	}
	if err := c.Table(rows); err != nil || p.MoreHits == 0 {
		return err
	}
	return c.Printf("… and in %s more\n", plural(p.MoreHits, "block"))
}

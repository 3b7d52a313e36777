package answers

import (
	"cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/layout"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

func Versions(c *show.Console, v *upkeep.Versions) error {
	text := "mnem " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision + ")"
	}
	return c.Printf("%s\n%s %s, record format %d, ranking %d, text analysis %d\n", text, v.Go,
		v.Platform, v.Format, v.Ranking, v.Analyser)
}

func Fsck(c *show.Console, res *upkeep.Fscked) error {
	if res.Unmarked != "" {
		c.Remark("note: marks are left as they are: %s", show.Line(res.Unmarked))
	}
	for _, done := range res.Repaired {
		c.Put("%s: %s\n", c.Paint(show.Yellow, "repaired"), done)
	}
	for _, e := range res.Errors {
		cid := "-"
		if e.CID.Defined() {
			cid = e.CID.String()
		}
		c.Put("%s %s: %s\n", c.Paint(show.Red, string(e.Kind)), cid, show.Line(e.Message))
	}
	if res.OK {
		return c.Printf("%s: %s\n", c.Paint(show.Green, "ok"), show.Plural(res.Blocks, "block"))
	}
	return c.Printf("%s in %s\n", c.Paint(show.Red, show.Plural(len(res.Errors), "error")),
		show.Plural(res.Blocks, "block"))
}

func GC(c *show.Console, res *core.GCResult) error {
	verb := "removed"
	if res.DryRun {
		verb = "would remove"
	}
	c.Put("%s %s, %s; %s kept\n", verb, show.Plural(res.Blocks, "block"),
		show.Plural(int(res.Bytes), "byte"), show.Plural(res.Kept, "block"))
	if res.MustFree > 0 {
		c.Put("the disk has no room to rewrite the files without them: free %s and run 'mnem gc'\n",
			show.Plural(int(res.MustFree), "byte"))
	}
	return c.Failed()
}

func Purged(c *show.Console, p *upkeep.Purged) error {
	verb := "erased"
	switch {
	case p.DryRun:
		verb = "would erase"
	case p.Pending:
		verb = "redacted"
	}
	ofText := p.Node.IsZero()
	what := "with the text"
	if !ofText {
		what = "of node " + p.Node.String()
	}
	c.Put("%s %s %s\n", verb, show.Plural(len(p.Erased), "block"), what)
	switch {
	case p.Denied != "":
		c.Put("erasure pending: %s\n'mnem gc' of the role that owns the tables goes on\n", show.Line(p.Denied))
	case p.Pending:
		some := "some"
		if p.MustFree > 0 {
			some = show.Plural(int(p.MustFree), "byte")
		}
		c.Put("erasure pending: the disk has no room to rewrite the files that still have "+
			"its bytes;\nfree %s, and 'mnem gc' or the next command that writes goes on\n", some)
	}
	var rows [][]show.Cell
	row := func(what, name string) {
		rows = append(rows, show.Row(what, show.Dim, show.Line(name), ""))
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
		for _, h := range p.Erased {
			row(string(h.What), cmp.Or(h.Name, h.CID.String()))
		}
	}
	for _, h := range p.Shared {
		row("kept, another node has the same "+string(h.What), h.CID.String())
	}
	for _, h := range p.Hits {
		what := "its words are also in "
		if ofText {
			what = "kept, as it cannot be erased: "
		}
		row(what+h.What, cmp.Or(h.Name, h.CID.String()))
	}
	for _, f := range p.Files {
		row(purgedFile(f, p.DryRun), ".mnem/"+f.Path)
	}
	c.PutTable(rows)
	if p.More > 0 {
		c.Put("… and in %s more\n", show.Plural(p.More, "block"))
	}
	for _, name := range p.Elsewhere {
		c.Put("%s may still have it: 'mnem push %[1]s --redactions' erases it there\n", show.Line(name))
	}
	return c.Failed()
}

func purgedFile(f layout.File, dryRun bool) string {
	switch {
	case f.Done == layout.Left:
		return "kept, and has it: " + f.What
	case dryRun && f.Done == layout.Changed:
		return "would take it out of " + f.What
	case dryRun:
		return "would remove " + f.What
	case f.Done == layout.Changed:
		return "took it out of " + f.What
	}
	return "removed " + f.What
}

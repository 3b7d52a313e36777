package show

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

func (c *Console) Versions(v *upkeep.Versions) error {
	text := "mnem " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision + ")"
	}
	return c.Printf("%s\n%s %s, record format %d, ranking %d, text analysis %d\n", text, v.Go,
		v.Platform, v.Format, v.Ranking, v.Analyser)
}

func (c *Console) Fsck(res *upkeep.Fscked) error {
	if res.Unmarked != "" {
		c.Remark("note: marks are left as they are: %s", line(res.Unmarked))
	}
	for _, done := range res.Repaired {
		c.put("%s: %s\n", c.Paint(Yellow, "repaired"), done)
	}
	for _, e := range res.Errors {
		cid := "-"
		if e.CID.Defined() {
			cid = e.CID.String()
		}
		c.put("%s %s: %s\n", c.Paint(Red, string(e.Kind)), cid,
			line(e.Message))
	}
	if res.OK {
		return c.Printf("%s: %s\n", c.Paint(Green, "ok"), plural(res.Blocks, "block"))
	}
	return c.Printf("%s in %s\n", c.Paint(Red, plural(len(res.Errors), "error")),
		plural(res.Blocks, "block"))
}

func (c *Console) GC(res *upkeep.Collected) error {
	verb := "removed"
	if res.DryRun {
		verb = "would remove"
	}
	err := c.Printf("%s %s, %s; %s kept\n", verb, plural(res.Blocks, "block"),
		plural(int(res.Bytes), "byte"), plural(res.Kept, "block"))
	if err == nil && res.MustFree > 0 {
		err = c.Printf("the disk has no room to write the files anew without them: free %s and run 'mnem gc'\n",
			plural(int(res.MustFree), "byte"))
	}
	return err
}

func (c *Console) Purged(p *upkeep.Purged) error {
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
	switch {
	case err != nil:
	case p.ErasureDenied != "":
		err = c.Printf("erasure pending: %s\n'mnem gc' of the role that owns the tables goes on\n", line(string(p.ErasureDenied)))
	case p.ErasurePending:
		some := "some"
		if p.MustFree > 0 {
			some = plural(int(p.MustFree), "byte")
		}
		err = c.Printf("erasure pending: the disk has no room to write the files anew that still have "+
			"its bytes;\nfree %s, and 'mnem gc' or the next command that writes goes on\n", some)
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
	for _, f := range p.Files {
		row(purgedFile(f, p.DryRun), ".mnem/"+string(f.Path))
	}
	if err := c.Table(rows); err != nil {
		return err
	}
	if p.MoreHits > 0 {
		if err := c.Printf("… and in %s more\n", plural(p.MoreHits, "block")); err != nil {
			return err
		}
	}
	for _, name := range p.Elsewhere {
		err := c.Printf("%s may still have it: 'mnem push %s --redactions' erases it there\n", line(name), line(name))
		if err != nil {
			return err
		}
	}
	return nil
}

// purgedFile says what became of a file.
func purgedFile(f upkeep.PurgedFile, dryRun bool) string {
	switch {
	case f.Done == "left":
		return "kept, and has it: " + f.What
	case dryRun && f.Done == "changed":
		return "would take it out of " + f.What
	case dryRun:
		return "would remove " + f.What
	case f.Done == "changed":
		return "took it out of " + f.What
	}
	return "removed " + f.What
}

func (c *Console) Index(x *upkeep.Index) error {
	if !x.Manifest.Defined() {
		return c.Printf("no index yet: the first retrieval makes it\n")
	}
	c.put("%s, %s, %s\n", plural(x.Segments, "segment"),
		plural(int(x.Nodes), "node"), plural(int(x.Terms), "term"))
	var rows [][]Cell
	for _, f := range x.Fields {
		rows = append(rows, []Cell{
			{f.Field, Bold}, {plural(int(f.Nodes), "node"), ""}, {plural(int(f.Terms), "term"), ""},
		})
	}
	return c.Table(rows)
}

func (c *Console) Stats(s *upkeep.Stats) error {
	rows := [][]Cell{
		{{"commit", Bold}, {ShortCID(s.Commit), Yellow}},
		countRow("nodes", s.Nodes.Total), countRow("edges", s.Edges.Total),
		countRow("marks", s.Marks.Total),
		countRow("embeddings", s.Embeddings),
	}
	for _, t := range s.NodeTypes {
		rows = append(rows, countRow("node "+brief(word(t.Type), nameWidth), uint64(t.Count)))
	}
	for _, t := range s.EdgeTypes {
		rows = append(rows, countRow("edge "+brief(word(t.Type), nameWidth), uint64(t.Count)))
	}
	for _, state := range slices.Sorted(maps.Keys(s.Marks.ByState)) {
		rows = append(rows, countRow("mark "+line(string(state)), uint64(s.Marks.ByState[state])))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		rows = append(rows, countRow("commits by "+brief(name, nameWidth), uint64(s.Agents[name])))
	}
	rows = append(rows, countRow("index segments", uint64(s.Index.Segments)),
		countRow("index terms", uint64(s.Index.Terms)),
		countRow("branches", uint64(s.Store.Branches)), countRow("tags", uint64(s.Store.Tags)),
		countRow("operations", s.Store.Operations), countRow("blocks", uint64(s.Store.Blocks)),
		[]Cell{{"block bytes", Bold}, {plain.Bytes(s.Store.BlockBytes), ""}},
		countRow("index blocks", uint64(s.Store.DerivedBlocks)),
		[]Cell{{"index bytes", Bold}, {plain.Bytes(s.Store.DerivedBytes), ""}},
		[]Cell{{"bytes on disk", Bold}, {plain.Bytes(s.Store.DiskBytes), ""}})
	if err := c.Table(rows); err != nil || s.Scores == nil {
		return err
	}
	return c.printScores(s.Scores)
}

func (c *Console) printScores(s *upkeep.Scores) error {
	c.put("\nscores of %d memories, each against all others\n", s.Sampled)
	rows := [][]Cell{{{"", ""}}}
	for _, name := range []string{"p50", "p90", "p95", "p99", "max"} {
		rows[0] = append(rows[0], Cell{name, Dim})
	}
	for _, row := range []struct {
		name string
		of   upkeep.Percentiles
		show func(int64) string
	}{
		{"check coverage", s.Check.Coverage, shareText},
		{"check evidence, bits", s.Check.Evidence, bitsText},
		{"check lead", s.Check.Lead, shareText},
		{"remember similarity", s.Remember.Similarity, shareText},
	} {
		cells := []Cell{{row.name, Bold}}
		for _, v := range []int64{row.of.P50, row.of.P90, row.of.P95, row.of.P99, row.of.Max} {
			cells = append(cells, Cell{row.show(v), ""})
		}
		rows = append(rows, cells)
	}
	return c.Table(rows)
}

func countRow(name string, n uint64) []Cell {
	return []Cell{{name, Bold}, {strconv.FormatUint(n, 10), ""}}
}

const exampleWidth = 40 // of a value, in columns

func (c *Console) Schema(s *upkeep.Schema) error {
	if s.Nodes == 0 {
		c.Remark("no nodes")
		return nil
	}
	rows := make([][]Cell, 0, len(s.NodeTypes))
	for _, t := range s.NodeTypes {
		rows = append(rows, countRow("node "+brief(word(t.Type), nameWidth), uint64(t.Count)))
	}
	_ = c.listOf(rows, s.MoreNodes)
	rows = nil
	for _, p := range s.Properties {
		var values []string
		for _, v := range p.Examples {
			values = append(values, brief(string(v), exampleWidth))
		}
		rows = append(rows, append(countRow("prop "+brief(p.Name, nameWidth), uint64(p.Count)),
			Cell{line(strings.Join(p.Kinds, ", ")), Dim}, Cell{typesText(p.Types, p.MoreTypes), ""},
			Cell{strings.Join(values, "  "), Dim}))
	}
	_ = c.listOf(rows, s.MoreProps)
	rows = nil
	for _, e := range s.EdgeTypes {
		rows = append(rows, append(countRow("edge "+brief(word(e.Type), nameWidth), uint64(e.Count)),
			Cell{typesText(e.From, e.MoreFrom) + " -> " + typesText(e.To, e.MoreTo), ""}))
	}
	return c.listOf(rows, s.MoreEdges)
}

// typesText names types with how many there are.
func typesText(list []upkeep.TypeCount, more int) string {
	names := make([]string, 0, len(list)+1)
	for _, t := range list {
		names = append(names, brief(word(t.Type), nameWidth)+" "+strconv.Itoa(t.Count))
	}
	if more > 0 {
		names = append(names, "+"+strconv.Itoa(more))
	}
	return strings.Join(names, ", ")
}

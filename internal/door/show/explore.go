package show

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/verb/outlining"
	"github.com/mnem-project/mnem/internal/verb/reading"
)

// Explored prints a node a line, and under it how it was reached.
func (c *Console) Explored(x *reading.Explored) error {
	names := map[graph.ID]string{}
	for _, n := range x.Nodes {
		names[n.ID] = cmp.Or(brief(string(n.Summary), wayWidth), nodeLabel(n.Key, n.ID))
	}
	for _, n := range x.Nodes {
		name := nodeLabel(n.Key, n.ID)
		about := cmp.Or(brief(string(n.Summary), SummaryWidth), name)
		c.put("%6s  %s  %s  %s\n", shareText(n.Score), c.Paint(Bold, about), word(n.Type),
			c.Paint(Dim, name))
		if len(n.Path) > 0 {
			c.put("        %s\n", c.Paint(Dim, wayOf(names, n.Path)))
		}
	}
	cut := ""
	if x.Cut > 0 {
		cut = fmt.Sprintf(", %s of large nodes left out", plural(int(x.Cut), "edge"))
	}
	if len(x.Nodes) == 0 {
		c.Remark("nothing fits the topic")
		return nil
	}
	c.Remark("%s, %s%s", plural(len(x.Nodes), "node"), plural(len(x.Edges), "edge"), cut)
	return nil
}

// wayWidth is how many characters of a node a way shows.
const wayWidth = 28

// wayOf writes a path, each node by the beginning of its text.
func wayOf(names map[graph.ID]string, path []reading.WayStep) string {
	var b strings.Builder
	b.WriteString(cmp.Or(names[path[0].From], path[0].From.String()))
	for i, p := range path {
		arrow := " <-" + word(p.Type) + "- "
		if p.Forward {
			arrow = " -" + word(p.Type) + "-> "
		}
		b.WriteString(arrow)
		if i == len(path)-1 {
			b.WriteString("this")
		} else {
			b.WriteString(cmp.Or(names[p.To], p.To.String()))
		}
	}
	return b.String()
}

func (c *Console) Suggested(s *reading.Suggested) error {
	var rows [][]Cell
	for _, t := range s.Tags {
		why := "named in the text"
		if len(t.From) > 0 {
			why = "of a memory like it"
			if len(t.From) > 1 {
				why = "of memories like it"
			}
			if t.Text {
				why += ", and named in the text"
			}
		}
		rows = append(rows, []Cell{{line(t.Tag), Bold}, {why, Dim}})
	}
	if len(rows) == 0 {
		c.Remark("nothing to suggest: no memory like it has tags, and it names nothing")
	}
	return c.Table(rows)
}

func (c *Console) Related(r *reading.RelatedNodes) error {
	for _, n := range r.Nodes {
		name := nodeLabel(n.Key, n.ID)
		c.put("%s  %s  %s\n",
			c.Paint(Bold, cmp.Or(brief(string(n.Summary), SummaryWidth), name)), word(n.Type),
			c.Paint(Dim, name))
		var why []string
		for _, reason := range n.Reasons {
			why = append(why, reasonText(reason))
		}
		c.put("    %s\n", c.Paint(Dim, strings.Join(why, "; ")))
	}
	if len(r.Nodes) == 0 {
		c.Remark("nothing is related to it")
	}
	return nil
}

// reasonText says why a node is related to another.
func reasonText(r reading.Related) string {
	names := make([]string, len(r.Names))
	for i, n := range r.Names {
		names[i] = brief(n, SummaryWidth)
	}
	switch r.Kind {
	case "edge":
		return strings.Join(names, ", ")
	case "shared":
		return "both have " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d%% of the words of either", r.Score*100/graph.MaxWeight)
}

// memberWidth is how much of a member's text a list of communities shows.
const memberWidth = 30

func (c *Console) Communities(answer any) error {
	if of, ok := answer.(*reading.NodeCommunity); ok {
		return c.printCommunity(&of.Community)
	}
	list := answer.(*reading.CommunityList)
	if len(list.Communities) == 0 {
		c.Remark("no communities: no edge connects two nodes")
		return nil
	}
	var rows [][]Cell
	for _, one := range list.Communities {
		names := make([]string, len(one.Members))
		for i, m := range one.Members {
			names[i] = nodeLabel(m.Key, m.ID)
			if m.Key == "" && m.Summary != "" {
				names[i] = strconv.Quote(brief(string(m.Summary), memberWidth))
			}
		}
		rows = append(rows, []Cell{{strconv.Itoa(one.Number), Dim},
			{plural(one.Size, "node"), Bold}, {strings.Join(names, ", "), ""}})
	}
	return c.listOf(rows, list.More)
}

// printCommunity lists the members of the community of a node.
func (c *Console) printCommunity(of *reading.Community) error {
	if of.Number == 0 {
		c.Remark("in no community: no edge connects the node to another, or none closely enough")
		return nil
	}
	var rows [][]Cell
	for _, m := range of.Members {
		rows = append(rows, []Cell{{nodeLabel(m.Key, m.ID), Bold}, {word(string(m.NodeType)), ""},
			{m.Inside.String(), Dim}, {brief(string(m.Summary), SummaryWidth), Dim}})
	}
	c.putTable(rows)
	if err := c.Out.Flush(); err != nil {
		return err
	}
	c.Remark("community %d: %s, %d shown", of.Number, plural(of.Size, "node"), len(of.Members))
	return nil
}

func (c *Console) Distilled(d *outlining.Distilled) error {
	if d.Skipped {
		c.Remark("no digests were kept before: 'mnem distill' begins them")
		return nil
	}
	if d.Made == 0 {
		c.put("up to date: %s, %s\n", plural(d.Facts, "fact"), plural(d.Scopes, "scope"))
	} else {
		c.put("%s made, of %s in %s\n", plural(d.Made, "digest"), plural(d.Facts, "fact"), plural(d.Scopes, "scope"))
	}
	if d.Written != nil {
		c.digestTexts(d.Written)
	}
	return c.failed()
}

// digestTexts tells what a model was asked, and came to.
func (c *Console) digestTexts(w *outlining.DigestTexts) {
	done := plural(w.Written, "text") + " written"
	if w.DryRun {
		done = "would be asked"
	}
	c.put("%s: %s of %s, told about %s, to write %s at most\n", done, plural(w.Calls, "call"), line(w.Model),
		plural(w.Tokens, "token"), plural(w.Most, "token"))
	c.putDropped(w.Dropped)
	if w.Left > 0 {
		c.put("left for another run: %s\n", plural(w.Left, "digest"))
	}
	for _, f := range w.Failed {
		c.Remark("digest %s keeps its sentences: %s", line(string(f.ID)), line(f.Error))
	}
}

func (c *Console) putDropped(n int) {
	if n > 0 {
		c.put("dropped with their digests: %s\n", plural(n, "text"))
	}
}

func (c *Console) DigestWritten(d *outlining.DigestWritten) error {
	what := "text of digest"
	if d.NoChange {
		what = "no change: this is already the text of digest"
	}
	c.put("%s %s: %s by %s\n", what, line(string(d.Name)), plural(d.Tokens, "token"), line(d.Model))
	c.putDropped(d.Dropped)
	return c.failed()
}

func (c *Console) Map(m *outlining.MapAnswer) error {
	if m.Printed == "" {
		c.Remark("nothing is in the memory")
		return nil
	}
	return c.Printf("%s\n", plain.Lines(string(m.Printed)))
}

func (c *Console) Digest(d *outlining.DigestAnswer) error {
	head := fmt.Sprintf("%s %s: %s", d.Kind, d.Name, plural(d.Facts, "fact"))
	if d.Kind == string(d.Name) {
		head = fmt.Sprintf("%s: %s", d.Kind, plural(d.Facts, "fact"))
	}
	if d.Title != "" && d.Title != d.Name && len(d.Text) != 1 {
		head += ", " + string(d.Title)
	}
	c.put("%s\n", line(head))
	if d.Source == "" {
		return c.failed()
	}
	c.put("source %s\nsem %s\n", d.Source, d.Sem)
	if w := d.Written; w != nil {
		for text := range strings.SplitSeq(string(w.Text), "\n") {
			c.put("%s\n", line(text))
		}
		c.put("written by %s\n", line(w.Model))
	} else {
		for _, s := range d.Text {
			c.put("[%.8s] %s\n", s.Fact, line(string(s.Text)))
		}
	}
	for _, name := range d.Above {
		c.put("in %s\n", line(string(name)))
	}
	var rows [][]Cell
	for _, k := range d.Children {
		rows = append(rows, []Cell{{line(string(k.Name)), Bold}, {strconv.Itoa(k.Facts), ""},
			{brief(string(k.Title), SummaryWidth), Dim}})
	}
	for _, f := range d.Members {
		rows = append(rows, []Cell{{nodeLabel(f.Key, f.ID), Bold}, {"", ""},
			{brief(string(f.Title), SummaryWidth), Dim}})
	}
	if len(rows) > 0 {
		c.put("\n")
		c.putTable(rows)
	}
	if d.More > 0 {
		c.put("... (+%d more)\n", d.More)
	}
	for _, id := range d.Expired {
		c.put("expired %s\n", id)
	}
	if d.Refused > 0 {
		return c.Printf("left out since they may hold a credential: %s\n", plural(d.Refused, "sentence"))
	}
	return nil
}

func (c *Console) Resolved(r *outlining.ResolveAnswer) error {
	if len(r.Found) == 0 {
		c.Remark("nothing has that hash, or one near it")
		return nil
	}
	var rows [][]Cell
	for _, f := range r.Found {
		rows = append(rows, []Cell{{strconv.Itoa(f.Distance), Dim}, {f.Kind, ""},
			{line(string(f.Name)), Bold}, {brief(string(f.Title), SummaryWidth), Dim}})
	}
	return c.listOf(rows, r.More)
}

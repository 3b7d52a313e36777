package answers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
)

// Watched prints one operation, and before the first from where on it watches.
func Watched(c *show.Console, answer any) error {
	w, ok := answer.(*branching.Watched)
	if !ok {
		if c.Answers == 1 {
			c.Remark("watching what comes after operation %d; stop with Ctrl-C", answer.(*branching.WatchBegun).Seq)
		}
		return nil
	}
	by := show.Line(w.Actor)
	if w.Agent != "" {
		by += " (" + show.Line(string(w.Agent)) + ")"
	}
	words := make([]string, len(w.Command))
	for i, word := range w.Command {
		words[i] = show.Line(word)
	}
	err := c.Printf("%s %s %s: %s\n", c.Paint(show.Yellow, strconv.FormatUint(w.Seq, 10)),
		c.Paint(show.Dim, w.Time.String()), by, strings.Join(words, " "))
	err = cmp.Or(err, printMoves(c, w.Refs))
	for i := range w.Branches {
		err = cmp.Or(err, printBranchMove(c, &w.Branches[i]))
	}
	return err
}

func printBranchMove(c *show.Console, m *branching.BranchMoved) error {
	text := "  "
	if m.Nodes != nil {
		text += c.CountsLine(*m.Nodes, "nodes") + ", " +
			c.CountsLine(*m.Edges, "edges") + "  "
	}
	c.Put("%s%s\n", text, show.Brief(firstLine(m.Message), show.SummaryWidth))
	if m.Changes == nil {
		return c.Failed()
	}
	for _, n := range m.Changes.Nodes {
		title := "node " + nodeLabel(verb.Text(n.Key), n.ID) + " " + show.Word(n.Type)
		if err := printWatchedItem(c, n.Kind, title, n.Fields); err != nil {
			return err
		}
	}
	for _, e := range m.Changes.Edges {
		title := "edge " + show.Word(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " +
			nodeLabel(e.DstKey, e.Dst)
		if e.Key != "" {
			title += " (" + show.Line(e.Key) + ")"
		}
		if err := printWatchedItem(c, e.Kind, title, e.Fields); err != nil {
			return err
		}
	}
	if m.Changes.More {
		return c.Printf("  and more: see 'mnem diff %s~ %s'\n", m.Commit, m.Commit)
	}
	return nil
}

// printWatchedItem prints one item that changed as diff does, two columns further in.
func printWatchedItem(c *show.Console, k state.ChangeKind, title string, fields []state.FieldDiff) error {
	sign, style := changeSign(k)
	err := c.Printf("  %s\n", c.Paint(style, sign+" "+title))
	for _, f := range fields {
		before, after := watchedValue(f.Old), watchedValue(f.New)
		switch {
		case k != state.Changed && slices.Contains(headFields, f.Field):
			continue
		case k == state.Changed:
			after = c.Paint(show.Red, before) + " -> " + c.Paint(show.Green, after)
		case k == state.Removed:
			after = before
		}
		err = cmp.Or(err, c.Printf("    %s: %s\n", show.Line(f.Field), after))
	}
	return err
}

func watchedValue(v *ipld.Value) string {
	if v != nil && v.Kind() == ipld.Null {
		v = nil
	}
	return diffValue(v)
}

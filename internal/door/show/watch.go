package show

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/reading"
)

// Watched prints one operation, and before the first from where on it watches.
func (c *Console) Watched(answer any) error {
	w, ok := answer.(*branching.Watched)
	if !ok {
		if c.Answers == 1 {
			c.Remark("watching what comes after operation %d; stop with Ctrl-C", answer.(*branching.WatchBegun).Seq)
		}
		return nil
	}
	by := line(w.Actor)
	if w.Agent != "" {
		by += " (" + line(string(w.Agent)) + ")"
	}
	words := make([]string, len(w.Command))
	for i, word := range w.Command {
		words[i] = line(word)
	}
	err := c.Printf("%s %s %s: %s\n", c.Paint(Yellow, strconv.FormatUint(w.Seq, 10)),
		c.Paint(Dim, w.Time.String()), by, strings.Join(words, " "))
	err = cmp.Or(err, c.printMoves(w.Refs))
	for i := range w.Branches {
		err = cmp.Or(err, c.printBranchMove(&w.Branches[i]))
	}
	return err
}

func (c *Console) printBranchMove(m *branching.BranchMoved) error {
	text := "  "
	if m.Nodes != nil {
		text += c.countsLine(*m.Nodes, "nodes") + ", " +
			c.countsLine(*m.Edges, "edges") + "  "
	}
	c.put("%s%s\n", text, brief(firstLine(m.Message), SummaryWidth))
	if m.Changes == nil {
		return c.failed()
	}
	for _, n := range m.Changes.Nodes {
		title := "node " + nodeLabel(n.Key, n.ID) + " " + word(n.Type)
		if err := c.printWatchedItem(n.Change, title, n.Fields); err != nil {
			return err
		}
	}
	for _, e := range m.Changes.Edges {
		title := "edge " + word(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " +
			nodeLabel(e.DstKey, e.Dst)
		if e.Key != "" {
			title += " (" + line(string(e.Key)) + ")"
		}
		if err := c.printWatchedItem(e.Change, title, e.Fields); err != nil {
			return err
		}
	}
	if m.Changes.More {
		return c.Printf("  and more: see 'mnem diff %s~ %s'\n", m.Commit, m.Commit)
	}
	return nil
}

// printWatchedItem prints one item that changed as diff does, two columns further in.
func (c *Console) printWatchedItem(k state.ChangeKind, title string, fields []reading.FieldDiff) error {
	sign, style := changeSign(k)
	err := c.Printf("  %s\n", c.Paint(style, sign+" "+title))
	for _, f := range fields {
		before, after := watchedValue(f.Old), watchedValue(f.New)
		switch {
		case k != state.Changed && slices.Contains(headFields, f.Field):
			continue
		case k == state.Changed:
			after = c.Paint(Red, before) + " -> " + c.Paint(Green, after)
		case k == state.Removed:
			after = before
		}
		err = cmp.Or(err, c.Printf("    %s: %s\n", line(f.Field), after))
	}
	return err
}

func watchedValue(v verb.Raw) string {
	if v == nil || string(v) == "null" {
		return "(none)"
	}
	return line(string(v))
}

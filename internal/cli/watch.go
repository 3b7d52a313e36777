package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// printWatched prints one operation, and before the first from where on it watches.
func (c *cli) printWatched(answer any) error {
	w, ok := answer.(*ops.Watched)
	if !ok {
		if c.answers == 1 {
			c.remark("watching what comes after operation %d; stop with Ctrl-C", answer.(*ops.WatchBegun).Seq)
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
	err := c.printf("%s %s %s: %s\n", c.paint(styleYellow, strconv.FormatUint(w.Seq, 10)),
		c.paint(styleDim, w.Time.String()), by, strings.Join(words, " "))
	err = firstError(err, c.printMoves(w.Refs))
	for i := range w.Branches {
		err = firstError(err, c.printBranchMove(&w.Branches[i]))
	}
	return err
}

func (c *cli) printBranchMove(m *ops.BranchMoved) error {
	text := "  "
	if m.Nodes != nil {
		text += c.countsLine(*m.Nodes, "nodes") + ", " +
			c.countsLine(*m.Edges, "edges") + "  "
	}
	if err := c.printf("%s%s\n", text, brief(firstLine(m.Message), summaryWidth)); err != nil {
		return err
	}
	if m.Changes == nil {
		return nil
	}
	for _, n := range m.Changes.Nodes {
		title := "node " + nodeLabel(n.Key, n.ID) + " " + line(n.Type)
		if err := c.printWatchedItem(n.Change, title, n.Fields); err != nil {
			return err
		}
	}
	for _, e := range m.Changes.Edges {
		title := "edge " + line(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " +
			nodeLabel(e.DstKey, e.Dst)
		if e.Key != "" {
			title += " (" + line(string(e.Key)) + ")"
		}
		if err := c.printWatchedItem(e.Change, title, e.Fields); err != nil {
			return err
		}
	}
	if m.Changes.More {
		return c.printf("  and more: see 'mnem diff %s~ %s'\n", m.Commit, m.Commit)
	}
	return nil
}

// printWatchedItem prints one item that changed as diff does, two columns further in.
func (c *cli) printWatchedItem(k repo.ChangeKind, title string, fields []ops.FieldDiff) error {
	sign, style := changeSign(k)
	err := c.printf("  %s\n", c.paint(style, sign+" "+title))
	for _, f := range fields {
		before, after := watchedValue(f.Old), watchedValue(f.New)
		switch {
		case k != repo.Changed && slices.Contains(headFields, f.Field):
			continue
		case k == repo.Changed:
			after = c.paint(styleRed, before) + " -> " + c.paint(styleGreen, after)
		case k == repo.Removed:
			after = before
		}
		err = firstError(err, c.printf("    %s: %s\n", line(f.Field), after))
	}
	return err
}

func watchedValue(v ops.Raw) string {
	if v == nil || string(v) == "null" {
		return "(none)"
	}
	return line(string(v))
}

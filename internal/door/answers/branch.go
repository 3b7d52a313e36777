package answers

import (
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/branching"
)

// BranchRow is a branch in a list, nil for one that was made or removed, which is reported at once.
func BranchRow(c *show.Console, answer any) []show.Cell {
	switch a := answer.(type) {
	case *branching.Branch:
		if a.Made {
			_ = c.Printf("branch %s is at %s\n", c.Paint(show.Cyan, show.Line(a.Name)),
				c.Commit(a.Commit))
			return nil
		}
		mark, style := " ", ""
		if a.Current {
			mark, style = "*", show.Green
		}
		return []show.Cell{{Text: mark + " " + show.Line(a.Name), Style: style}, {Text: show.ShortCID(a.Commit), Style: show.Yellow},
			{Text: againstText(a.Remotes) + show.Brief(a.Title, show.SummaryWidth), Style: ""}}
	case *branching.Gone:
		_ = c.Printf("branch %s, which was at %s, is removed\n", show.Line(a.Removed),
			c.Commit(a.Commit))
	}
	return nil
}

// againstText says how a branch differs from those of the same name in remotes, before its title.
func againstText(list []branching.BranchThere) string {
	var all strings.Builder
	for _, there := range list {
		var how []string
		if there.Ahead > 0 {
			how = append(how, "ahead "+strconv.Itoa(there.Ahead))
		}
		if there.Behind > 0 {
			how = append(how, "behind "+strconv.Itoa(there.Behind))
		}
		if len(how) == 0 {
			how = append(how, "the same")
		}
		all.WriteString("[" + show.Line(there.Remote) + ": " + strings.Join(how, ", ") + "] ")
	}
	return all.String()
}

// firstLine returns the first line of a message.
func firstLine(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return first
}

func TagRow(c *show.Console, answer any) []show.Cell {
	switch a := answer.(type) {
	case *branching.Tag:
		if a.Made {
			_ = c.Printf("tag %s is at %s\n", c.Paint(show.Bold, show.Line(a.Name)),
				c.Commit(a.Commit))
			return nil
		}
		return []show.Cell{{Text: show.Line(a.Name), Style: show.Bold}, {Text: show.ShortCID(a.Commit), Style: show.Yellow},
			{Text: show.Brief(a.Title, show.SummaryWidth), Style: ""}}
	case *branching.Gone:
		_ = c.Printf("tag %s, which was at %s, is removed\n", show.Line(a.Removed),
			c.Commit(a.Commit))
	}
	return nil
}

func Switch(c *show.Console, h *branching.Head) error {
	where := c.Commit(h.Commit)
	if h.Branch == "" {
		return c.Printf("HEAD is at %s and on no branch\n", where)
	}
	if !h.Commit.Defined() {
		where = "no commit yet"
	}
	err := c.Printf("on branch %s, %s\n", c.Paint(show.Cyan, show.Line(string(h.Branch))), where)
	if err == nil && h.Staged != "" {
		c.Remark("note: what is staged stays for branch %s", show.Line(h.Staged))
	}
	return err
}

func Reset(c *show.Console, s *branching.Staged) error {
	if !s.Staged {
		return c.Printf("nothing staged in %s\n", show.Line(s.Stage))
	}
	return c.Printf("forgot what was staged in %s: %s\n", show.Line(s.Stage), c.Changes(s.Nodes, s.Edges))
}

package show

import (
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/verb/branching"
)

// BranchRow is a branch in a list, nil for one that was made or removed, which is told of at once.
func (c *Console) BranchRow(answer any) []Cell {
	switch a := answer.(type) {
	case *branching.Branch:
		if a.Made {
			_ = c.Printf("branch %s is at %s\n", c.Paint(Cyan, line(a.Name)),
				c.commit(a.Commit))
			return nil
		}
		mark, style := " ", ""
		if a.Current {
			mark, style = "*", Green
		}
		return []Cell{{mark + " " + line(a.Name), style}, {ShortCID(a.Commit), Yellow},
			{againstText(a.Remotes) + brief(a.Title, SummaryWidth), ""}}
	case *branching.Gone:
		_ = c.Printf("branch %s, which was at %s, is removed\n", line(a.Removed),
			c.commit(a.Commit))
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
		all.WriteString("[" + line(there.Remote) + ": " + strings.Join(how, ", ") + "] ")
	}
	return all.String()
}

// firstLine is what a message begins with.
func firstLine(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return first
}

func (c *Console) TagRow(answer any) []Cell {
	switch a := answer.(type) {
	case *branching.Tag:
		if a.Made {
			_ = c.Printf("tag %s is at %s\n", c.Paint(Bold, line(a.Name)),
				c.commit(a.Commit))
			return nil
		}
		return []Cell{{line(a.Name), Bold}, {ShortCID(a.Commit), Yellow},
			{brief(a.Title, SummaryWidth), ""}}
	case *branching.Gone:
		_ = c.Printf("tag %s, which was at %s, is removed\n", line(a.Removed),
			c.commit(a.Commit))
	}
	return nil
}

func (c *Console) Switch(h *branching.Head) error {
	where := c.commit(h.Commit)
	if h.Branch == "" {
		return c.Printf("HEAD is at %s and on no branch\n", where)
	}
	if !h.Commit.Defined() {
		where = "no commit yet"
	}
	err := c.Printf("on branch %s, %s\n", c.Paint(Cyan, line(string(h.Branch))), where)
	if err == nil && h.Staged != "" {
		c.Remark("note: what is staged stays for branch %s", line(h.Staged))
	}
	return err
}

func (c *Console) Reset(s *branching.Staged) error {
	if !s.Staged {
		return c.Printf("nothing staged in %s\n", line(s.Stage))
	}
	return c.Printf("forgot what was staged in %s: %s\n", line(s.Stage), c.changes(s.Nodes, s.Edges))
}

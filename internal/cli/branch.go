package cli

import (
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// branchRow is a branch in a list, nil for one that was made or removed, which is told of at once.
func (c *cli) branchRow(answer any) []cell {
	switch a := answer.(type) {
	case *ops.Branch:
		if a.Made {
			_ = c.printf("branch %s is at %s\n", c.paint(styleCyan, line(a.Name)),
				c.paint(styleYellow, shortCID(a.Commit)))
			return nil
		}
		mark, style := " ", ""
		if a.Current {
			mark, style = "*", styleGreen
		}
		return []cell{{mark + " " + line(a.Name), style}, {shortCID(a.Commit), styleYellow},
			{againstText(a.Remotes) + brief(a.Title, summaryWidth), ""}}
	case *ops.Gone:
		_ = c.printf("branch %s, which was at %s, is removed\n", line(a.Removed),
			c.paint(styleYellow, shortCID(a.Commit)))
	}
	return nil
}

// againstText says how a branch differs from those of the same name in remotes, before its title.
func againstText(list []ops.BranchThere) string {
	var all strings.Builder
	for _, there := range list {
		var how []string
		if there.Ahead > 0 {
			how = append(how, "ahead "+intText(there.Ahead))
		}
		if there.Behind > 0 {
			how = append(how, "behind "+intText(there.Behind))
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

func (c *cli) tagRow(answer any) []cell {
	switch a := answer.(type) {
	case *ops.Tag:
		if a.Made {
			_ = c.printf("tag %s is at %s\n", c.paint(styleBold, line(a.Name)),
				c.paint(styleYellow, shortCID(a.Commit)))
			return nil
		}
		return []cell{{line(a.Name), styleBold}, {shortCID(a.Commit), styleYellow},
			{brief(a.Title, summaryWidth), ""}}
	case *ops.Gone:
		_ = c.printf("tag %s, which was at %s, is removed\n", line(a.Removed),
			c.paint(styleYellow, shortCID(a.Commit)))
	}
	return nil
}

func (c *cli) printSwitch(h *ops.Head) error {
	where := c.paint(styleYellow, shortCID(h.Commit))
	if h.Branch == "" {
		return c.printf("HEAD is at %s and on no branch\n", where)
	}
	if !h.Commit.Defined() {
		where = "no commit yet"
	}
	err := c.printf("on branch %s, %s\n", c.paint(styleCyan, line(string(h.Branch))), where)
	if err == nil && h.Staged != "" {
		c.remark("note: what is staged stays for branch %s", line(h.Staged))
	}
	return err
}

func (c *cli) printReset(s *ops.Staged) error {
	if !s.Staged {
		return c.printf("nothing staged in %s\n", line(s.Stage))
	}
	return c.printf("forgot what was staged in %s: %s, %s\n", line(s.Stage),
		c.countsLine(s.Nodes, "nodes"), c.countsLine(s.Edges, "edges"))
}

package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
)

func (c *cli) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		GroupID: groupRecord,
		Short:   "Pin a commit for a series of retrievals and record them",
		Long: "A session pins one commit: whatever is committed meanwhile, 'mnem retrieve --session NAME'\n" +
			"answers from it and records a receipt, and 'mnem replay NAME' answers it all again.",
		Example: "  mnem session start review --agent reviewer\n" +
			"  mnem retrieve 'open tasks' --session review\n" +
			"  mnem session log review\n  mnem replay review",
	}
	return c.parent(cmd, c.verb("session start"), c.verb("session log"), c.verb("session list"),
		c.verb("session advance"), c.verb("session end"), c.verb("session rm"))
}

// printSession prints the state of a session after a verb changed it.
func (c *cli) printSession(s *ops.Session) error {
	text := "session " + line(s.Session)
	switch {
	case s.Ended:
		text += " has ended"
	case s.Follow:
		text += " follows HEAD"
	default:
		text += " is at " + shortCID(s.Commit)
	}
	return c.printf("%s\n", text)
}

func (c *cli) sessionRow(s *ops.Session) []cell {
	where := "follows HEAD"
	if !s.Follow {
		where = shortCID(s.Commit)
	}
	state := "open"
	if s.Ended {
		state = "ended"
	}
	return []cell{
		{line(s.Session), styleBold}, {where, styleYellow}, {state, ""}, {s.Time.String(), styleDim},
		{line(joinText(string(s.Agent), string(s.Task))), ""},
	}
}

func (c *cli) printSessionRemoved(r *ops.Removed) error {
	return c.printf("session %s is removed\n", line(r.Removed))
}

func (c *cli) printSessionRecord(v *ops.SessionRecord) error {
	parts := []string{c.paint(styleDim, v.Time.String()), v.Event}
	if v.Commit.Defined() {
		parts = append(parts, c.paint(styleYellow, shortCID(v.Commit)))
	}
	if v.Receipt.Defined() {
		parts = append(parts, plural(*v.Items, "item"), plural(*v.Tokens, "token"),
			strconv.Quote(brief(*v.Query, summaryWidth)))
		if *v.Title != "" {
			parts = append(parts, c.paint(styleDim, *v.Title))
		}
	}
	return c.printf("%s\n", strings.Join(parts, "  "))
}

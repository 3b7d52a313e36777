package show

import (
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// Session prints the state of a session after a verb changed it.
func (c *Console) Session(s *ops.Session) error {
	text := "session " + line(s.Session)
	switch {
	case s.Ended:
		text += " has ended"
	case s.Follow:
		text += " follows HEAD"
	default:
		text += " is at " + ShortCID(s.Commit)
	}
	return c.Printf("%s\n", text)
}

func (c *Console) SessionRow(s *ops.Session) []Cell {
	where := "follows HEAD"
	if !s.Follow {
		where = ShortCID(s.Commit)
	}
	state := "open"
	if s.Ended {
		state = "ended"
	}
	return []Cell{
		{line(s.Session), Bold}, {where, Yellow}, {state, ""}, {s.Time.String(), Dim},
		{line(joinText(string(s.Agent), string(s.Task))), ""},
	}
}

func (c *Console) SessionRemoved(r *ops.Removed) error {
	return c.Printf("session %s is removed\n", line(r.Removed))
}

func (c *Console) SessionRecord(v *ops.SessionRecord) error {
	parts := []string{c.Paint(Dim, v.Time.String()), v.Event}
	if v.Commit.Defined() {
		parts = append(parts, c.commit(v.Commit))
	}
	if v.Receipt.Defined() {
		parts = append(parts, plural(*v.Items, "item"), plural(*v.Tokens, "token"),
			strconv.Quote(brief(*v.Query, SummaryWidth)))
		if *v.Title != "" {
			parts = append(parts, c.Paint(Dim, *v.Title))
		}
	}
	return c.Printf("%s\n", strings.Join(parts, "  "))
}

package show

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// Session prints the state of a session after a verb changed it.
func (c *Console) Session(s *asking.Session) error {
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

func (c *Console) SessionRow(s *asking.Session) []Cell {
	where := "follows HEAD"
	if !s.Follow {
		where = ShortCID(s.Commit)
	}
	state := "open"
	if s.Ended {
		state = "ended"
	}
	if s.Of != s.Session {
		state += ", beside " + line(s.Of)
	}
	return []Cell{
		{line(s.Session), Bold}, {where, Yellow}, {state, ""}, {s.Time.String(), Dim},
		{line(joinText(string(s.Agent), string(s.Task))), ""},
	}
}

func (c *Console) SessionRemoved(r *asking.Removed) error {
	return c.Printf("session %s is removed\n", line(r.Removed))
}

func (c *Console) SessionRecord(v *asking.SessionRecord) error {
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

// Last prints what an agent was given at one time.
func (c *Console) Last(g *asking.GivenContext) error {
	parts := []string{c.Paint(Dim, g.Time.String())}
	if g.Event != "" {
		parts = append(parts, line(string(g.Host))+" "+line(string(g.Event)))
	}
	parts = append(parts, c.Paint(Bold, line(g.Session)))
	if g.Commit.Defined() {
		parts = append(parts, "commit "+c.commit(g.Commit))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(parts, "  "))
	if g.Query != nil && *g.Query != "" {
		fmt.Fprintf(&b, "asked: %s\n", strconv.Quote(brief(*g.Query, SummaryWidth)))
	}
	switch {
	case g.Why != "":
		fmt.Fprintf(&b, "nothing was given: %s\n", line(string(g.Why)))
	case len(g.Items) == 0:
		b.WriteString("nothing was known\n")
	case g.Exact:
		fmt.Fprintf(&b, "%s, %s\n", plural(len(g.Items), "item"), plural(g.Tokens, "token"))
	default:
		fmt.Fprintf(&b, "%s were found, some of which were given\n", plural(len(g.Items), "item"))
	}
	for _, it := range g.Items {
		name := cmp.Or(string(it.Key), it.ID.String())
		fmt.Fprintf(&b, "  %s  %s\n", c.Paint(Bold, line(name)), plural(it.Tokens, "token"))
		if it.Rendered == nil {
			b.WriteString("    hidden, erased or changed in form since\n")
			continue
		}
		for text := range strings.Lines(strings.TrimRight(*it.Rendered, "\n")) {
			fmt.Fprintf(&b, "    %s\n", line(strings.TrimRight(text, "\n")))
		}
	}
	if g.Receipt.Defined() {
		fmt.Fprintf(&b, "receipt %s\n", g.Receipt)
	}
	return c.Printf("%s", b.String())
}

func (c *Console) Replay(r *upkeep.Replayed) error {
	if len(r.Redacted) > 0 {
		err := c.Printf("%s: receipt %d needs what was purged since\n",
			c.Paint(Yellow, "redacted"), r.Receipts)
		for _, e := range r.Redacted {
			err = cmp.Or(err, c.Printf("  %s: %s\n", e.CID, line(e.About)))
		}
		return err
	}
	d := r.FirstDifference
	if d == nil {
		return c.Printf("%s: %s\n", c.Paint(Green, "identical"), plural(r.Receipts, "receipt"))
	}
	where := ""
	if d.Item != nil {
		where = "item " + strconv.Itoa(*d.Item+1) + ", "
	}
	return c.Printf("%s: receipt %d (%s), %s%s\n  recorded: %s\n  now:      %s\n",
		c.Paint(Red, "different"), d.Number+1, d.Receipt, where, line(d.Field), line(d.Old),
		line(d.New))
}

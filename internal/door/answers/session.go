package answers

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// Session prints the state of a session after a verb changed it.
func Session(c *show.Console, s *asking.Session) error {
	text := "session " + show.Line(s.Known)
	switch {
	case s.Ended:
		text += " has ended"
	case s.Follow:
		text += " follows HEAD"
	default:
		text += " is at " + show.ShortCID(s.Commit)
	}
	return c.Printf("%s\n", text)
}

func SessionRow(c *show.Console, s *asking.Session) []show.Cell {
	where := "follows HEAD"
	if !s.Follow {
		where = show.ShortCID(s.Commit)
	}
	state := "open"
	if s.Ended {
		state = "ended"
	}
	if s.Name != s.Known {
		state += ", next to " + show.Line(s.Name)
	}
	return []show.Cell{
		{Text: show.Line(s.Known), Style: show.Bold}, {Text: where, Style: show.Yellow}, {Text: state, Style: ""}, {Text: s.Time.String(), Style: show.Dim},
		{Text: show.Line(show.JoinText(s.Agent, s.Task)), Style: ""},
	}
}

func SessionRecord(c *show.Console, v *asking.SessionRecord) error {
	parts := []string{c.Paint(show.Dim, v.Time.String()), v.Event}
	if v.Commit.Defined() {
		parts = append(parts, c.Commit(v.Commit))
	}
	if v.Receipt.Defined() {
		parts = append(parts, show.Plural(*v.Items, "item"), show.Plural(*v.Tokens, "token"),
			strconv.Quote(show.Brief(*v.Query, show.SummaryWidth)))
		if *v.Title != "" {
			parts = append(parts, c.Paint(show.Dim, *v.Title))
		}
	}
	return c.Printf("%s\n", strings.Join(parts, "  "))
}

// Last prints what an agent was given at one time.
func Last(c *show.Console, g *asking.GivenContext) error {
	parts := []string{c.Paint(show.Dim, g.Time.String())}
	if g.Event != "" {
		parts = append(parts, show.Line(string(g.Host))+" "+show.Line(string(g.Event)))
	}
	parts = append(parts, c.Paint(show.Bold, show.Line(g.Session)))
	if g.Commit.Defined() {
		parts = append(parts, "commit "+c.Commit(g.Commit))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(parts, "  "))
	if g.Query != nil && *g.Query != "" {
		fmt.Fprintf(&b, "asked: %s\n", strconv.Quote(show.Brief(*g.Query, show.SummaryWidth)))
	}
	switch {
	case g.Why != "":
		fmt.Fprintf(&b, "nothing was given: %s\n", show.Line(string(g.Why)))
	case len(g.Items) == 0:
		b.WriteString("nothing was known\n")
	case g.Exact:
		fmt.Fprintf(&b, "%s, %s\n", show.Plural(len(g.Items), "item"), show.Plural(g.Tokens, "token"))
	default:
		fmt.Fprintf(&b, "%s were found, and some of them given\n", show.Plural(len(g.Items), "item"))
	}
	for _, it := range g.Items {
		name := cmp.Or(string(it.Key), it.ID.String())
		fmt.Fprintf(&b, "  %s  %s\n", c.Paint(show.Bold, show.Line(name)), show.Plural(it.Tokens, "token"))
		if it.Rendered == nil {
			b.WriteString("    hidden, erased or changed in form since\n")
			continue
		}
		for text := range strings.Lines(strings.TrimRight(*it.Rendered, "\n")) {
			fmt.Fprintf(&b, "    %s\n", show.Line(strings.TrimRight(text, "\n")))
		}
	}
	if g.Receipt.Defined() {
		fmt.Fprintf(&b, "receipt %s\n", g.Receipt)
	}
	return c.Printf("%s", b.String())
}

func Replay(c *show.Console, r *upkeep.Replayed) error {
	if len(r.Redacted) > 0 {
		err := c.Printf("%s: receipt %d needs what was purged since\n",
			c.Paint(show.Yellow, "redacted"), r.Receipts)
		for _, e := range r.Redacted {
			err = cmp.Or(err, c.Printf("  %s: %s\n", e.CID, show.Line(e.About)))
		}
		return err
	}
	d := r.FirstDifference
	if d == nil {
		return c.Printf("%s: %s\n", c.Paint(show.Green, "identical"), show.Plural(r.Receipts, "receipt"))
	}
	where := ""
	if d.Item != nil {
		where = "item " + strconv.Itoa(*d.Item+1) + ", "
	}
	return c.Printf("%s: receipt %d (%s), %s%s\n  recorded: %s\n  now:      %s\n",
		c.Paint(show.Red, "different"), d.Number+1, d.Receipt, where, show.Line(d.Field), show.Line(d.Old),
		show.Line(d.New))
}

package show

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// Last prints what an agent was given at one time.
func (c *Console) Last(g *ops.GivenContext) error {
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

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// printLast prints what an agent was given at one time.
func (c *cli) printLast(g *ops.GivenContext) error {
	parts := []string{c.paint(styleDim, g.Time.String())}
	if g.Event != "" {
		parts = append(parts, line(string(g.Host))+" "+line(string(g.Event)))
	}
	parts = append(parts, c.paint(styleBold, line(g.Session)))
	if g.Commit.Defined() {
		parts = append(parts, "commit "+c.paint(styleYellow, shortCID(g.Commit)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(parts, "  "))
	if g.Query != nil && *g.Query != "" {
		fmt.Fprintf(&b, "asked: %s\n", strconv.Quote(brief(*g.Query, summaryWidth)))
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
		name := firstOf(string(it.Key), it.ID.String())
		fmt.Fprintf(&b, "  %s  %s\n", c.paint(styleBold, line(name)), plural(it.Tokens, "token"))
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
	return c.printf("%s", b.String())
}

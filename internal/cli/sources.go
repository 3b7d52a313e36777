package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
)

func (c *cli) sourcesCommand() *cobra.Command {
	cmd := c.verb("sources")
	cmd.AddCommand(c.verb("sources diff"), c.verb("sources refresh"))
	return cmd
}

func (c *cli) printSources(list *ops.SourceList) error {
	err := list.Sources(func(s ops.Source) error {
		return c.printf("%s  %s\n", c.paint(styleBold, nodeLabel(s.Key, s.Node)), line(s.Place))
	})
	if err == nil && list.More {
		c.remark("more follows: --limit 0 prints all")
	}
	return err
}

func (c *cli) printSourcesDiff(d *ops.SourcesDiff) error {
	err := d.Sources(func(s ops.SourceCheck) error { return c.printSourceCheck(&s) })
	if err == nil {
		err = c.printf("%s\n", sourceSummary(&d.Counts))
	}
	if err != nil || d.Marking == nil {
		return err
	}
	return c.printMarked(d.Marking)
}

func sourceSummary(n *ops.SourceCounts) string {
	var parts []string
	for _, state := range []struct {
		name  string
		count int
	}{
		{"unchanged", n.Unchanged}, {"moved", n.Moved}, {"changed", n.Changed}, {"removed", n.Removed},
		{"unhashed", n.Unhashed}, {"unreadable", n.Unreadable}, {"unchecked", n.Unchecked},
	} {
		if state.count > 0 {
			parts = append(parts, plural(state.count, state.name+" source"))
		}
	}
	if len(parts) == 0 {
		return "no sources"
	}
	return strings.Join(parts, ", ")
}

func (c *cli) printSourceCheck(s *ops.SourceCheck) error {
	style := styleRed
	if !s.Gone {
		style = ""
	}
	text := s.Place
	if s.MovedTo != "" {
		text += " -> " + s.MovedTo
	}
	if s.Why != "" {
		text += " (" + string(s.Why) + ")"
	}
	return c.printf("%s  %s  %s\n", c.paint(style, string(s.State)),
		c.paint(styleBold, nodeLabel(s.Key, s.Node)), line(text))
}

// printRefreshed prints what is there now for sources, with the text.
func (c *cli) printRefreshed(r *ops.SourcesRefreshed) error {
	for i := range r.Sources {
		s := &r.Sources[i]
		if err := c.printSourceCheck(s); err != nil {
			return err
		}
		if s.Span == nil || *s.Span == "" {
			continue
		}
		for l := range strings.SplitSeq(strings.TrimRight(*s.Span, "\n"), "\n") {
			if err := c.printf("  | %s\n", line(l)); err != nil {
				return err
			}
		}
	}
	return c.printCommit(r.Committed)
}

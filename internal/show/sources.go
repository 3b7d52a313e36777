package show

import (
	"strings"

	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Sources(list *ops.SourceList) error {
	err := list.Sources(func(s ops.Source) error {
		return c.Printf("%s  %s\n", c.Paint(Bold, nodeLabel(s.Key, s.Node)), line(s.Place))
	})
	if err == nil && list.More {
		c.Remark("more follows: --limit 0 prints all")
	}
	return err
}

func (c *Console) SourcesDiff(d *ops.SourcesDiff) error {
	err := d.Sources(func(s ops.SourceCheck) error { return c.printSourceCheck(&s) })
	if err == nil {
		err = c.Printf("%s\n", sourceSummary(&d.Counts))
	}
	if err != nil || d.Marking == nil {
		return err
	}
	return c.Marked(d.Marking)
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

func (c *Console) printSourceCheck(s *ops.SourceCheck) error {
	style := Red
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
	return c.Printf("%s  %s  %s\n", c.Paint(style, string(s.State)),
		c.Paint(Bold, nodeLabel(s.Key, s.Node)), line(text))
}

// Refreshed prints what is there now for sources, with the text.
func (c *Console) Refreshed(r *ops.SourcesRefreshed) error {
	for i := range r.Sources {
		s := &r.Sources[i]
		if err := c.printSourceCheck(s); err != nil {
			return err
		}
		if s.Span == nil || *s.Span == "" {
			continue
		}
		for l := range strings.SplitSeq(strings.TrimRight(*s.Span, "\n"), "\n") {
			c.put("  | %s\n", line(l))
		}
	}
	return c.printCommit(r.Committed)
}

package cli

import "github.com/mnem-project/mnem/ops"

// printStage prints what is staged after a change of it.
func (c *cli) printStage(s *ops.StageEdited) error {
	for _, name := range s.Missing {
		c.remark("note: there is no node %s yet; committing needs one", line(name))
	}
	c.warnSecrets(s.Warnings)
	more := repeats(s.Duplicates, s.Unchanged)
	if s.Nodes.Zero() && s.Edges.Zero() {
		return c.printf("nothing staged in %s%s\n", line(s.Stage), more)
	}
	return c.printf("staged in %s: %s, %s%s\n", line(s.Stage), c.countsLine(s.Nodes, "nodes"),
		c.countsLine(s.Edges, "edges"), more)
}

package show

import (
	"github.com/mnem-project/mnem/ops"
)

// Stage prints what is staged after a change of it.
func (c *Console) Stage(s *ops.StageEdited) error {
	for _, name := range s.Missing {
		c.Remark("note: there is no node %s yet; committing needs one", line(name))
	}
	c.warnSecrets(s.Warnings)
	more := repeats(s.Duplicates, s.Unchanged)
	if s.Nodes.Zero() && s.Edges.Zero() {
		return c.Printf("nothing staged in %s%s\n", line(s.Stage), more)
	}
	return c.Printf("staged in %s: %s%s\n", line(s.Stage), c.changes(s.Nodes, s.Edges), more)
}

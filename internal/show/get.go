package show

import (
	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/retrieve"
)

// nodeText is a node as it is rendered, uncut, with every line there is.
func nodeText(w *ops.WholeNode) string {
	n, mark, content := w.Parts()
	return retrieve.Render(n, mark, retrieve.RenderOptions{
		Show:    []string{retrieve.ShowTimes, retrieve.ShowKey, retrieve.ShowContent},
		Content: content,
	})
}

func (c *Console) Get(answer any) error {
	switch a := answer.(type) {
	case *ops.WholeNode:
		return c.Printf("%s", nodeText(a))
	case *ops.ImportantNode:
		e := &a.Importance
		return c.Printf("%s\n%s\n%s, %s, %d days old, half-life %d days\n", nodeText(&a.WholeNode),
			importanceText(e), plural(int(e.Uses), "use"), plural(int(e.Linked), "link"),
			max(e.Age, 0)/secondsPerDay, e.HalfLife)
	case *ops.FieldValue:
		if s, isText := a.Value.(string); isText {
			if c.Terminal {
				s = plain.Lines(s)
			}
			return c.Printf("%s\n", s)
		}
	}
	return c.PrintJSON(answer)
}

const secondsPerDay = 86400

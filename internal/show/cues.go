package show

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// Cues prints one page of memories with their cues, or what a model wrote.
func (c *Console) Cues(answer any) error {
	if w, ok := answer.(*ops.CuesWritten); ok {
		return c.printCuesWritten(w)
	}
	list := answer.(*ops.CueList)
	err := list.Nodes(func(n ops.CuedMemory) error {
		return c.Printf("%s\n", joinText(c.Paint(Bold, nodeLabel(n.Key, n.ID)), line(n.Type),
			c.Paint(Dim, brief(string(n.Summary), SummaryWidth)), line(strings.Join(n.Cues, "; "))))
	})
	if err == nil && list.Next != "" {
		c.Remark("more follows: --after %s", list.Next)
	}
	return err
}

func (c *Console) printCuesWritten(w *ops.CuesWritten) error {
	place := ""
	if w.Commits > 0 {
		place = fmt.Sprintf("%s ", c.at(w.Branch, w.Commit))
	}
	text := fmt.Sprintf("%s%s written", place, plural(w.Cues, "cue"))
	if w.Memories > 0 {
		text += fmt.Sprintf(" for %d memories in %s", w.Memories, plural(w.Commits, "commit"))
	}
	if w.Skipped > 0 {
		text += fmt.Sprintf(", %d without any", w.Skipped)
	}
	if w.Remaining > 0 {
		text += fmt.Sprintf(", %d left by --limit", w.Remaining)
	}
	return c.Printf("%s\n", text)
}

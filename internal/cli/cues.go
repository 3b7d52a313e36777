package cli

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// printCues prints one page of memories with their cues, or what a model wrote.
func (c *cli) printCues(answer any) error {
	if w, ok := answer.(*ops.CuesWritten); ok {
		return c.printCuesWritten(w)
	}
	list := answer.(*ops.CueList)
	err := list.Nodes(func(n ops.CuedMemory) error {
		return c.printf("%s\n", joinText(c.paint(styleBold, nodeLabel(n.Key, n.ID)), line(n.Type),
			c.paint(styleDim, brief(string(n.Summary), summaryWidth)), line(strings.Join(n.Cues, "; "))))
	})
	if err == nil && list.Next != "" {
		c.remark("more follows: --after %s", list.Next)
	}
	return err
}

func (c *cli) printCuesWritten(w *ops.CuesWritten) error {
	place := ""
	if w.Commits > 0 {
		place = fmt.Sprintf("[%s %s] ", c.paint(styleCyan, line(w.Branch)), c.paint(styleYellow, shortCID(w.Commit)))
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
	return c.printf("%s\n", text)
}

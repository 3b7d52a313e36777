package line

import (
	"fmt"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
)

const (
	// ProgressAfter is how long work takes before it is worth a line, progressEvery how often the
	// line changes.
	ProgressAfter = 500 * time.Millisecond
	ProgressEvery = 100 * time.Millisecond
	progressWidth = 30 // characters of a full bar
)

// progress is a line on the error stream that tells how far long work is. It shows on a terminal
// only, and is gone when the work is done.
type progress struct {
	c     *Line
	next  time.Time
	width int // of what is on the line
}

// Progress starts a line. done must be called.
func (c *Line) Progress() *progress {
	return &progress{c: c, next: c.App.Now().Add(ProgressAfter)}
}

// Set shows how much is done, of a total, 0 if that is not known.
func (p *progress) Set(what string, done, total int) {
	now := p.c.App.Now()
	if now.Before(p.next) || !p.Visible() {
		return
	}
	p.next = now.Add(ProgressEvery)
	text := fmt.Sprintf("%s %d", what, done)
	if total > 0 {
		full := min(progressWidth, done*progressWidth/total)
		text = fmt.Sprintf("%s [%s%s] %3d%%", what, strings.Repeat("#", full),
			strings.Repeat(" ", progressWidth-full), min(100, done*100/total))
	}
	p.show(text)
}

// Start shows a line at once, for work that does not tell how far it is.
func (p *progress) Start(text string) {
	if p.Visible() {
		p.show(text)
	}
}

// Say replaces a line that shows.
func (p *progress) Say(text string) {
	if p.width > 0 {
		p.show(text)
	}
}

// Visible reports whether a person sees it.
func (p *progress) Visible() bool {
	return p.c.App.ErrTTY && !p.c.Quiet && !p.c.InJSON
}

func (p *progress) show(text string) {
	pad := max(0, p.width-len(text))
	_, _ = fmt.Fprintf(p.c.App.Stderr, "\r%s%s", text, strings.Repeat(" ", pad)) // there is nowhere to report it
	p.width = len(text)
}

// Done takes the line away.
func (p *progress) Done() {
	if p.width > 0 {
		p.show("")
		_, _ = fmt.Fprint(p.c.App.Stderr, "\r") // there is nowhere to report it
		p.width = 0
	}
}

// count shows the number of changes read.
func (p *progress) count(changes state.Changes) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		n := 0
		for change, err := range changes {
			if !yield(change, err) {
				return
			}
			n++
			p.Set("changes read:", n, 0)
		}
		p.Say("writing")
	}
}

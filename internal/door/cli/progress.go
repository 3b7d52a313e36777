package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
)

const (
	// progressAfter is how long work takes before it is worth a line, progressEvery how often the
	// line changes.
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
	progressWidth = 30 // characters of a full bar
)

// progress is a line on the error stream that tells how far long work is. It shows on a terminal
// only, and is gone when the work is done.
type progress struct {
	c     *cli
	next  time.Time
	width int // of what is on the line
}

// progress starts a line. done must be called.
func (c *cli) progress() *progress {
	return &progress{c: c, next: c.app.Now().Add(progressAfter)}
}

// set shows how much is done, of a total, 0 where that is not known.
func (p *progress) set(what string, done, total int) {
	now := p.c.app.Now()
	if now.Before(p.next) || !p.visible() {
		return
	}
	p.next = now.Add(progressEvery)
	text := fmt.Sprintf("%s %d", what, done)
	if total > 0 {
		full := min(progressWidth, done*progressWidth/total)
		text = fmt.Sprintf("%s [%s%s] %3d%%", what, strings.Repeat("#", full),
			strings.Repeat(" ", progressWidth-full), min(100, done*100/total))
	}
	p.show(text)
}

// start shows a line at once, for work that does not tell how far it is.
func (p *progress) start(text string) {
	if p.visible() {
		p.show(text)
	}
}

// say replaces a line that shows.
func (p *progress) say(text string) {
	if p.width > 0 {
		p.show(text)
	}
}

func (p *progress) visible() bool {
	return p.c.app.ErrTTY && !p.c.Quiet && !p.c.InJSON
}

func (p *progress) show(text string) {
	pad := max(0, p.width-len(text))
	_, _ = fmt.Fprintf(p.c.app.Stderr, "\r%s%s", text, strings.Repeat(" ", pad)) // nobody to tell
	p.width = len(text)
}

// done takes the line away.
func (p *progress) done() {
	if p.width > 0 {
		p.show("")
		_, _ = fmt.Fprint(p.c.app.Stderr, "\r") // nobody to tell
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
			p.set("changes read:", n, 0)
		}
		p.say("writing")
	}
}

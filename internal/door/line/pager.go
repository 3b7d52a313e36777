package line

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// paged are the commands whose results a terminal shows by a pager, as git has it.
var paged = []string{"log", "diff", "show", "blame", "op log", "op show", "session log"}

// pager shows results on a terminal, as much at a time as fits. What is said on the side goes to it too, so that it
// is not written across what it shows. It is started by the first results.
type pager struct {
	words []string   // the program and its arguments
	app   *App       // the terminal
	mu    sync.Mutex // of what follows
	in    io.WriteCloser
	wait  func() error
}

// page sends the results of the command that begins through a pager, if it should have one.
func (c *Line) page() {
	if !c.App.OutTTY || c.App.StartPager == nil ||
		!slices.Contains(paged, strings.Join(c.Doing.Words, " ")) {
		return
	}
	words := strings.Fields(FirstOf(c.App.Getenv("MNEM_PAGER"), c.App.Getenv("PAGER"), "less"))
	if len(words) == 0 || words[0] == "cat" {
		return
	}
	terminal := *c.App
	p := &pager{words: words, app: &terminal}
	c.pager, c.outlet = p, newOutlet(p)
	c.Out = Buffered(c.outlet)
	if c.App.ErrTTY {
		c.App.Stderr = &asides{p, c.Out, c.outlet, terminal.Stderr}
		c.Aside = c.App.Stderr
	}
}

// Write writes results. If the program cannot be started they go to the terminal.
func (p *pager) Write(b []byte) (int, error) {
	if to := p.start(); to != nil {
		return to.Write(b)
	}
	return p.app.Stdout.Write(b)
}

// start starts the program unless it runs, and returns nil if it cannot be started.
func (p *pager) start() io.Writer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in == nil && p.words != nil {
		in, wait, err := p.app.StartPager(p.words)
		if err != nil {
			p.words = nil
			return nil
		}
		p.in, p.wait = in, wait
	}
	if p.in == nil {
		return nil
	}
	return p.in
}

// ended reports whether results go to the terminal now.
func (p *pager) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.words == nil
}

// end waits until the user has seen enough.
func (p *pager) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in != nil {
		_ = p.in.Close() // it may have ended before
		_ = p.wait()     // how it ended is not of interest
		p.in, p.words = nil, nil
	}
}

// asides is the error stream while a pager is used.
type asides struct {
	pager   *pager
	results *bufio.Writer
	outlet  *outlet
	errors  io.Writer
}

// Write writes to the pager that shows results, and to the terminal before and after it.
func (a *asides) Write(b []byte) (int, error) {
	if a.results.Buffered() > 0 && a.results.Flush() != nil {
		return a.errors.Write(b)
	}
	if a.outlet.used() && !a.pager.ended() {
		if n, err := a.outlet.Write(b); err == nil {
			return n, nil
		}
	}
	return a.errors.Write(b)
}

// startPager starts a program that shows what is written to it on this process's terminal.
func startPager(words []string) (io.WriteCloser, func() error, error) {
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(path, words[1:]...) //nolint:gosec // it is the user who names it
	cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdout, os.Stderr, os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // end where all fits, show colours, leave the screen as it is
	}
	if os.Getenv("LV") == "" {
		cmd.Env = append(cmd.Env, "LV=-c")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	return in, cmd.Wait, cmd.Start()
}

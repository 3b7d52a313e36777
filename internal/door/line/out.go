package line

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// settlePause is how long a message on standard error waits for earlier results to be read.
const settlePause = 100 * time.Millisecond

// outlet buffers a command's output. While the command itself has the repository open, other processes wait for it, so
// writes do not block on a slow reader: outlet keeps up to 1 MiB in memory and the rest in a file.
type outlet struct {
	to    io.Writer
	spool func() (*peers.TempFile, error)

	mu    sync.Mutex
	more  sync.Cond // on mu: something changed
	ahead bool      // whether writes are buffered
	over  bool      // whether release was called
	ended chan struct{}
	mem   []byte // the first bytes still unwritten
	file  *peers.TempFile
	from  int64        // where the unwritten bytes in the file begin
	end   int64        // where they end
	busy  bool         // whether something is being written
	wrote bool         // whether anything was written
	err   error        // of writing
	after func() error // called when all is written, nil for none
}

func newOutlet(to io.Writer) *outlet {
	o := &outlet{to: to}
	o.more.L = &o.mu
	return o
}

// Write writes, or keeps the bytes for later. It returns the error of an earlier write.
func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.wrote = o.wrote || len(p) > 0
	if err := o.err; !o.ahead {
		o.mu.Unlock() // what is said on the side does not wait for a reader of results
		if err != nil {
			return 0, err // what comes before p was not written
		}
		return o.to.Write(p)
	}
	defer o.mu.Unlock()
	for n := 0; ; {
		switch {
		case o.err != nil:
			return n, o.err
		case n == len(p):
			return n, nil
		case o.from == o.end && len(o.mem) < maxHeld:
			part := p[n:min(len(p), n+maxHeld-len(o.mem))]
			o.mem = append(o.mem, part...)
			n += len(part)
			o.more.Broadcast()
		case o.spooled(p[n:]):
			n = len(p)
			o.more.Broadcast()
		default:
			o.more.Wait() // the disk is full: wait for the reader
		}
	}
}

func (o *outlet) used() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wrote
}

// spooled appends bytes to the file, and reports whether that was possible.
func (o *outlet) spooled(p []byte) bool {
	if o.file == nil {
		f, err := o.spool()
		if err != nil {
			return false
		}
		o.file = f
	}
	if _, err := o.file.WriteAt(p, o.end); err != nil {
		return false
	}
	o.end += int64(len(p))
	return true
}

// hold has writing not wait until release is called. When ctx ends, what is in the file is dropped.
func (o *outlet) hold(ctx context.Context, spool func() (*peers.TempFile, error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spool, o.ahead, o.over, o.ended = spool, true, false, make(chan struct{})
	go o.pass(ctx)
}

func (o *outlet) pass(ctx context.Context) {
	defer close(o.ended)
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil {
		part, read := o.mem, int64(0)
		switch {
		case len(part) > 0:
			o.mem = nil
		case o.from < o.end && ctx.Err() != nil:
			o.err = ctx.Err()
		case o.from < o.end:
			read = min(outBuffer, o.end-o.from)
			part = make([]byte, read)
			_, o.err = o.file.ReadAt(part, o.from)
		case o.over:
			return
		default:
			o.more.Wait()
			continue
		}
		if o.err == nil {
			o.busy = true
			o.mu.Unlock()
			_, err := o.to.Write(part)
			if err != nil && ctx.Err() != nil && !IsClosedPipe(err) {
				err = ctx.Err() // its end closes a pipe that openInPlace opened
			}
			o.mu.Lock()
			o.busy, o.err = false, err
		}
		if o.from += read; o.from == o.end {
			o.from, o.end = 0, 0
		}
		o.more.Broadcast()
	}
}

// settle waits up to settlePause for the buffered bytes to be read, so that a message on standard error follows them.
func (o *outlet) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	late := false
	timer := time.AfterFunc(settlePause, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.more.Broadcast()
	})
	defer timer.Stop()
	for o.ahead && !late && o.err == nil && (o.busy || len(o.mem) > 0 || o.from < o.end) {
		o.more.Wait()
	}
}

type aside struct {
	outlet *outlet
	to     io.Writer
}

func (a aside) Write(p []byte) (int, error) {
	a.outlet.settle()
	return a.to.Write(p)
}

func (o *outlet) release() error {
	o.mu.Lock()
	o.over = true
	o.more.Broadcast()
	ended := o.ended
	o.mu.Unlock()
	<-ended
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ahead, o.mem, o.from, o.end = false, nil, 0, 0
	err := o.err
	if o.file != nil {
		err = FirstError(err, o.file.Close())
		o.file = nil
	}
	if o.after != nil {
		err = FirstError(err, o.after())
	}
	return err
}

// WriteAhead has what the command writes wait for no reader until done is called: it has the repository open, and no
// other process can use it.
func (c *Line) WriteAhead(ctx context.Context) (done func() error) {
	if c.outlet == nil || c.ahead != nil {
		return func() error { return nil }
	}
	c.ahead = []*outlet{c.outlet}
	c.outlet.hold(ctx, c.emptySpool)
	return func() (err error) {
		for _, o := range c.ahead {
			err = FirstError(err, o.release())
		}
		c.ahead = nil
		return err
	}
}

func (c *Line) emptySpool() (*peers.TempFile, error) { return c.spoolFile(strings.NewReader("")) }

// WriteOut is WriteOut for a command, which may have the repository open.
func (c *Line) WriteOut(ctx context.Context, path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if c.ahead == nil || err != nil || info.Mode().IsRegular() {
		return WriteOut(ctx, path, write)
	}
	f, end, err := openInPlace(ctx, path)
	if err != nil {
		return err
	}
	o := newOutlet(f)
	o.after = end
	o.hold(ctx, c.emptySpool)
	c.ahead = append(c.ahead, o)
	return write(o)
}

// WriteOut writes what path names. What is no regular file, as a device or a pipe, is written in
// its place; a symbolic link stays, and what it leads to is written.
func WriteOut(ctx context.Context, path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInPlace(ctx, path, write)
	}
	return filestate.Replace(path, privateMode, write)
}

// privateMode is the mode of new files with memories: only their user may read them.
const privateMode = 0o600

// writeInPlace writes to a device or pipe. It does not wait for another program to open a pipe for reading:
// the repository is open. An interrupt ends a write that waits.
func writeInPlace(ctx context.Context, path string, write func(io.Writer) error) error {
	f, end, err := openInPlace(ctx, path)
	if err != nil {
		return err
	}
	err = write(f)
	if endErr := end(); ctx.Err() != nil {
		return errors.Join(endErr, err)
	} else if err == nil {
		err = endErr
	}
	return err
}

// openInPlace opens a device or pipe, and returns what closes it.
func openInPlace(ctx context.Context, path string) (f *os.File, end func() error, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, nil, verb.Hintf(fmt.Errorf("%w: %s is a directory", state.ErrInvalid, path), "name a file in it")
	}
	f, err = os.OpenFile(path, os.O_WRONLY|regular.NoWait, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, nil, fmt.Errorf("%w: %s is a named pipe that nothing reads", state.ErrInvalid, path)
	}
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = f.Close() }) // wakes a write that waits
	return f, func() error {
		if !stop() {
			return ctx.Err()
		}
		return f.Close()
	}, nil
}

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
	if !c.App.OutTTY || c.App.StartPager == nil || !slices.Contains(paged, strings.Join(c.Doing.Words, " ")) {
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

const (
	// ProgressAfter is how long work takes before it is worth a line, progressEvery how often the line changes.
	ProgressAfter = 500 * time.Millisecond
	ProgressEvery = 100 * time.Millisecond
	progressWidth = 30 // characters of a full bar
)

// progress is a line on the error stream of a terminal that shows how far long work is.
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
	if !p.due() {
		return
	}
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

// Bytes shows how many bytes have come or gone.
func (p *progress) Bytes(what string, n int64) {
	if p.due() {
		p.show(what + " " + plain.Bytes(n))
	}
}

// due reports whether the line is seen and is to change now.
func (p *progress) due() bool {
	now := p.c.App.Now()
	if now.Before(p.next) || !p.Visible() {
		return false
	}
	p.next = now.Add(ProgressEvery)
	return true
}

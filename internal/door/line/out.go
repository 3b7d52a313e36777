package line

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

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

// used reports whether anything was written.
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

// pass writes what is kept.
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

// aside is the error stream of an outlet's command.
type aside struct {
	outlet *outlet
	to     io.Writer
}

func (a aside) Write(p []byte) (int, error) {
	a.outlet.settle()
	return a.to.Write(p)
}

// release writes the buffered bytes and ends buffering.
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

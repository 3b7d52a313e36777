package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/mnem-project/mnem/peers"
	"github.com/mnem-project/mnem/repo"
)

// maxReplay bounds the standard input that is kept to be read once more.
const maxReplay = 1 << 20

// replayed is standard input that can be read from the beginning until the repository is there: a
// command line that is handed to another process by then is given all of it.
type replayed struct {
	in io.Reader

	mu     sync.Mutex
	more   sync.Cond // on mu: something was read, or a read failed
	kept   []byte    // from the beginning, or where it was forgotten from there
	from   int       // how many bytes before kept were dropped
	err    error     // of the last read
	busy   bool      // whether a read is under way
	forgot bool      // whether nobody reads from the beginning any more
}

func newReplayed(in io.Reader) *replayed {
	if in == nil {
		in = bytes.NewReader(nil)
	}
	r := &replayed{in: in}
	r.more.L = &r.mu
	return r
}

// again returns all of standard input, nil where too much was read of it to be kept.
func (r *replayed) again() io.Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from > 0 {
		return nil
	}
	return &replay{r: r}
}

// forget says that nobody will read from the beginning any more.
func (r *replayed) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgot = true
}

// replay is one reading of standard input from the beginning.
type replay struct {
	r   *replayed
	off int
}

// Read reads on. A read that waits for standard input may be that of another reading, which does
// not take anything away from this one.
func (p *replay) Read(to []byte) (int, error) {
	r := p.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case p.off < r.from:
			return 0, fmt.Errorf("read standard input: it was read further by somebody else")
		case p.off < r.from+len(r.kept):
			n := copy(to, r.kept[p.off-r.from:])
			p.off += n
			if r.forgot {
				r.kept, r.from = r.kept[p.off-r.from:], p.off
			}
			return n, nil
		case r.err != nil:
			return 0, r.err
		case r.busy:
			r.more.Wait()
		default:
			r.read(len(to))
		}
	}
}

// read reads up to n bytes, without the lock, which is held before and after.
func (r *replayed) read(n int) {
	r.busy = true
	buf := make([]byte, min(n, stdinBuffer))
	r.mu.Unlock()
	n, err := r.in.Read(buf)
	r.mu.Lock()
	r.busy, r.err = false, err
	if n > 0 && err != nil && !errors.Is(err, io.EOF) {
		r.err = nil // it comes back from the next read
	}
	if len(r.kept) > maxReplay {
		r.kept, r.from = nil, r.from+len(r.kept)
	}
	r.kept = append(r.kept, buf[:n]...)
	r.more.Broadcast()
}

// spool opens a file that was given as an argument, and reads all of it where that may take as long
// as somebody likes: what a writer of a shared repository reads, the other writers wait for.
func (c *cli) spool(ctx context.Context, arg string) (io.ReadCloser, string, error) {
	from, name, err := c.open(ctx, arg)
	if err != nil {
		return nil, name, err
	}
	if f, ok := from.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, name, nil
		}
	}
	defer func() { _ = from.Close() }() // only read from
	dir, err := c.dir()
	if err != nil {
		return nil, name, err
	}
	in, err := peers.Spool(filepath.Join(dir, repo.DirName), from)
	return in, name, err
}

// spoolFile copies what is read into a file of the repository's directory, which is gone when it is
// closed.
func (c *cli) spoolFile(from io.Reader) (*peers.File, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return peers.SpoolFile(filepath.Join(dir, repo.DirName), from)
}

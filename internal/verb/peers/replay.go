package peers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// readBuffer is how many bytes of an input are read at once.
const readBuffer = 64 << 10

// maxReplay bounds the input that is kept to be read once more.
const maxReplay = 1 << 20

// Replay is standard input that can be read from the beginning until the repository is open here: the next
// owner that a verb is sent to is given all of it.
type Replay struct {
	in io.Reader

	mu     sync.Mutex
	more   sync.Cond // on mu: something was read, or a read failed
	kept   []byte    // from the beginning, or where it was forgotten from there
	from   int       // how many bytes before kept were dropped
	err    error     // of the last read
	busy   bool      // whether a read is under way
	forgot bool      // whether it is not read from the beginning any more
}

// NewReplay returns the replay of an input, nil for an empty one.
func NewReplay(in io.Reader) *Replay {
	if in == nil {
		in = bytes.NewReader(nil)
	}
	r := &Replay{in: in}
	r.more.L = &r.mu
	return r
}

// Again returns all of the input, nil where too much was read of it to be kept.
func (r *Replay) Again() io.Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from > 0 {
		return nil
	}
	return &replay{r: r}
}

// Forget says that it will not be read from the beginning any more.
func (r *Replay) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgot = true
}

// replay is one reading from the beginning.
type replay struct {
	r   *Replay
	off int
}

// Read reads on. A read that waits for the input may be that of another reading, which does
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
func (r *Replay) read(n int) {
	r.busy = true
	buf := make([]byte, min(n, readBuffer))
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

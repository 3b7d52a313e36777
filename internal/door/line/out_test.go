package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// gate is a reader of results that takes nothing until it is opened.
type gate struct {
	open chan struct{}
	mu   sync.Mutex
	got  bytes.Buffer
	err  error
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	return g.got.Write(p)
}

func parts(n int) (out []string) {
	for i := range n {
		out = append(out, strings.Repeat(fmt.Sprintf("%07d\n", i), 1<<10))
	}
	return out
}

// TestOutletWaitsForNoReader writes 8 MiB to a reader that takes nothing, and more while it reads: all of it arrives in
// its order, and no file is left.
func TestOutletWaitsForNoReader(t *testing.T) {
	dir := t.TempDir()
	to := &gate{open: make(chan struct{})}
	o := newOutlet(to)
	o.hold(t.Context(), func() (*peers.TempFile, error) { return peers.SpoolFile(dir, strings.NewReader("")) })
	all := parts(1500)
	for _, part := range all[:1000] {
		if n, err := io.WriteString(o, part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	must.True(t, len(o.mem) <= maxHeld, "%d bytes are in memory", len(o.mem))
	close(to.open)
	for _, part := range all[1000:] {
		must.OK(t, must.Err(io.WriteString(o, part)))
	}
	must.OK(t, o.release())
	must.OK(t, must.Err(io.WriteString(o, "end")))
	must.Equal(t, to.got.String(), strings.Join(all, "")+"end", to.got.Len(), " bytes arrive, or in another order")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestOutletOfAClosedPipe has the reader go: writing fails soon, and at the latest on release.
func TestOutletOfAClosedPipe(t *testing.T) {
	to := &gate{open: make(chan struct{}), err: syscall.EPIPE}
	o := newOutlet(to)
	o.hold(t.Context(), func() (*peers.TempFile, error) { return nil, errors.New("no room on the disk") })
	close(to.open)
	var err error
	for range 10 << 20 { // ends since without room on the disk writing waits for the reader
		if _, err = io.WriteString(o, "x"); err != nil {
			break
		}
	}
	must.True(t, errors.Is(err, syscall.EPIPE) && errors.Is(o.release(), syscall.EPIPE), "%v", err)
}

// TestOutletWithoutRoom has no room on the disk: writing waits for the reader then, and nothing is lost.
func TestOutletWithoutRoom(t *testing.T) {
	to := &gate{open: make(chan struct{})}
	o := newOutlet(to)
	o.hold(t.Context(), func() (*peers.TempFile, error) { return nil, errors.New("no room on the disk") })
	all := strings.Join(parts(500), "")
	written := make(chan error)
	go func() {
		_, err := io.WriteString(o, all)
		written <- err
	}()
	close(to.open)
	if err := errors.Join(<-written, o.release()); err != nil || to.got.String() != all {
		t.Errorf("%d of %d bytes, %v", to.got.Len(), len(all), err)
	}
}

// TestOutletInterrupted ends the context while the reader takes nothing: neither the spooled bytes nor later ones are
// written.
func TestOutletInterrupted(t *testing.T) {
	dir := t.TempDir()
	to := &gate{open: make(chan struct{})}
	o := newOutlet(to)
	ctx, cancel := context.WithCancel(t.Context())
	o.hold(ctx, func() (*peers.TempFile, error) { return peers.SpoolFile(dir, strings.NewReader("")) })
	all := strings.Join(parts(500), "")
	must.OK(t, must.Err(io.WriteString(o, all)))
	cancel()
	close(to.open)
	must.Fail(t, o.release(), context.Canceled)
	must.Fail(t, must.Err(io.WriteString(o, "end")), context.Canceled)
	if got := to.got.String(); len(got) > 2*maxHeld || !strings.HasPrefix(all, got) {
		t.Errorf("%d of %d bytes arrive, or others", len(got), len(all))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestOutletClosedByInterrupt ends the context, which closes the output: the outlet returns the error of the context.
func TestOutletClosedByInterrupt(t *testing.T) {
	to := &gate{open: make(chan struct{}), err: os.ErrClosed}
	o := newOutlet(to)
	ctx, cancel := context.WithCancel(t.Context())
	o.hold(ctx, func() (*peers.TempFile, error) { return nil, io.EOF })
	must.OK(t, must.Err(io.WriteString(o, "result")))
	cancel()
	close(to.open)
	must.Fail(t, o.release(), context.Canceled)
}

// TestOutletWhileReaderWaits has the reader take nothing of what is written to it directly: what is said on the side does
// not wait for it.
func TestOutletWhileReaderWaits(t *testing.T) {
	to := &gate{open: make(chan struct{})}
	o := newOutlet(to)
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.WriteString(o, "result") })
	for !o.used() {
		time.Sleep(time.Millisecond)
	}
	var said strings.Builder
	if _, err := io.WriteString(aside{o, &said}, "one"); err != nil || said.String() != "one" {
		t.Errorf("%q, %v", &said, err)
	}
	close(to.open)
	wg.Wait()
	must.Equal(t, to.got.String(), "result")
}

// TestAsides has what is said on the side come after the results before it, but wait for no reader.
func TestAsides(t *testing.T) {
	to := &gate{open: make(chan struct{})}
	o := newOutlet(to)
	o.hold(t.Context(), func() (*peers.TempFile, error) { return nil, io.EOF })
	var said strings.Builder
	a := aside{o, &said}
	must.OK(t, must.Err(io.WriteString(o, "result")))
	if _, err := io.WriteString(a, "one "); err != nil || said.Len() == 0 {
		t.Errorf("%v", err)
	}
	close(to.open)
	if err := o.release(); err != nil || to.got.String() != "result" {
		t.Errorf("%q, %v", to.got.String(), err)
	}
}

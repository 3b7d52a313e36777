package serving

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/exchange/remote/server"
)

// serveOne serves the repository on standard input and output until the client has gone. What it waits for is bounded,
// so that no process of a client that is away keeps the repository.
func serveOne(ctx context.Context, c *line.Line, cfg *serve.Config) error {
	cfg.Own, cfg.Loopback = true, true
	// One client of this user, who may have a slow line.
	l := &cfg.Limits
	l.Header, l.Idle, l.Read, l.Stall, l.Write = time.Minute, 5*time.Minute, l.Time, time.Minute, 2*time.Minute
	listener := server.Stdio(c.App.Stdin, c.App.Stdout)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- serveFrom(ctx, c, func(context.Context) (net.Listener, error) { return listener, nil }, cfg,
			func(*serve.Server, net.Addr, string) error { return nil }) // standard output has answers
	}()
	return EndWithin(ended, listener.Gone(), cancel, goneGrace)
}

// goneGrace is how long a server may take to end whose client has gone.
const goneGrace = time.Minute

// EndWithin waits for what has ended, and cancels it when the client has gone; from then on no longer than grace. A
// repository is as good as closed when its process ends.
func EndWithin(ended <-chan error, gone <-chan struct{}, cancel func(), grace time.Duration) error {
	select {
	case err := <-ended:
		return err
	case <-gone:
		cancel()
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return fmt.Errorf("%w: what a client asked for goes on %v after that has gone", store.ErrBusy, grace)
	}
}

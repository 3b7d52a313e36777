package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/exchange/remote/server"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// listenOnSocket listens on a Unix socket. Its mode admits this user alone, who may do everything.
func listenOnSocket(ctx context.Context, path string, cfg *serve.Config) (net.Listener, error) {
	if err := removeStaleSocket(ctx, path); err != nil {
		return nil, line.Hint(err, "name another path with --addr unix:PATH")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, line.Hint(err, "name another path with --addr unix:PATH; systems allow about 100 bytes")
	}
	if err := os.Chmod(path, 0o600); err != nil && runtime.GOOS != "windows" {
		return nil, errors.Join(err, l.Close())
	}
	cfg.Own, cfg.Loopback = true, true
	return l, nil
}

// lockTimeout is how long a server waits for the lock of its socket or start file. One that ends releases it.
const lockTimeout = time.Second

// lockOwn takes the lock of a socket or start file until the server ends: of several started at once, one serves.
func lockOwn(ctx context.Context, path string) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	unlock, err = filestate.Lock(ctx, path)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("listen at %s: %w: a server answers there", path, store.ErrBusy)
	}
	return unlock, err
}

// removeStaleSocket removes a socket on which no process answers. Anything else at the path is an error.
func removeStaleSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket && runtime.GOOS != "windows":
		return fmt.Errorf("listen at %s: it is no socket", path)
	}
	if conn, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
		_ = conn.Close() // nothing was sent
		return fmt.Errorf("listen at %s: %w: a server answers there", path, store.ErrBusy)
	}
	return os.Remove(path)
}

type startFile struct {
	URL     string `json:"url"`
	Token   string `json:"token"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

// ownToken makes a token for everything that this user may do, which is valid while the process runs.
func ownToken(c *line.Line, cfg *serve.Config) (text string, err error) {
	own, text, err := serve.NewToken(c.App.Rand, "", "admin", c.App.Now())
	if err != nil {
		return "", err
	}
	others := cfg.Token
	cfg.NeedToken = true
	cfg.Token = func(id string) (*serve.Token, error) {
		if id == own.ID {
			return &own, nil
		}
		return others(id)
	}
	return text, nil
}

// writeStartFile writes a file that this user alone can read, whatever the mode of an earlier one is.
func writeStartFile(path string, content startFile) error {
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil {
		if err := regular.Check(path, info); err != nil {
			return err
		}
		if err := filestate.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return filestate.Replace(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}

func printOpenAPI(c *line.Line) error {
	doc, err := serve.Document(verbs.Operations(), upkeep.VersionsHere().Version)
	if err != nil {
		return err
	}
	return c.Printf("%s\n", doc)
}

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
	select {
	case err := <-ended:
		return err
	case <-time.After(grace):
		return fmt.Errorf("%w: what a client asked for goes on %v after that has gone", store.ErrBusy, grace)
	}
}

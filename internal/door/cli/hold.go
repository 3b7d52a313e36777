package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// holdJSON is what hold says whenever another process begins or ends to have the repository.
type holdJSON struct {
	Path string `json:"path"`
	// Owner is whether this process has the repository open, and not another one.
	Owner  bool    `json:"owner"`
	Socket *string `json:"socket"` // where this process answers others, null where it does not
}

func holdCommand() *bound {
	return localLines(verb.Spec{
		Command: "hold", Right: verb.NoRight,
		Group: groupCare, Title: "Hold the repository open and serve other mnem processes",
		Doc: "Keep the repository open until stopped, and run the commands of all other mnem\n" +
			"processes on it: what they need is in memory then. While another process does the same this\n" +
			"one waits, and takes over when that ends.",
		Example: "  mnem hold\n  mnem hold --json",
	}, (*cli).hold)
}

func (c *cli) hold(ctx context.Context, _ *struct{}) (err error) {
	c.app.serves()
	h, err := c.newHolder()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, h.Close()) }()
	var printErr error
	err = h.Keep(ctx, func(socket string, own bool) {
		printErr = firstError(printErr, c.printHold(h, socket, own), c.Out.Flush())
	})
	return firstError(c.openHint(err), printErr)
}

func (c *cli) printHold(h *peers.Holder, socket string, own bool) error {
	path := filepath.Join(h.Dir(), core.DirName)
	switch {
	case c.InJSON:
		return c.PrintJSON(holdJSON{path, own, orNull(socket)})
	case own:
		return c.Printf("%s is open here; stop with Ctrl-C\n", line(path))
	}
	return c.Printf("another process has %s open; this one waits for it to end\n", line(path))
}

// newHolder returns a holder of the repository that a command is about. It opens nothing.
func (c *cli) newHolder() (*peers.Holder, error) { return c.newHolderOf(1) }

// newHolderOf returns a holder of one of as many repositories, which share what a process may keep of them.
func (c *cli) newHolderOf(many int) (*peers.Holder, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	open, err := c.options()
	if open.Memory > 0 {
		open.Memory = max(settings.MinSize, open.Memory/int64(many))
	}
	opt := peers.Options{PID: c.app.PID, Temp: firstOf(c.app.Getenv("TMPDIR"), os.TempDir()), Now: c.app.Now}
	return peers.NewHolder(dir, open, opt, func(err error) {
		_, _ = fmt.Fprintf(c.app.Stderr, "mnem: no other process can share the repository: %s\n", line(err.Error()))
	}), err
}

// share keeps the repository open for a command that works long and needs it again and again, and
// answers other processes meanwhile. done must be called.
func (c *cli) share() (done func() error, err error) {
	if c.app.Holder != nil {
		return func() error { return nil }, nil
	}
	h, err := c.newHolder()
	if err != nil {
		return nil, err
	}
	c.app.Holder = h
	return func() error {
		c.release(nil)
		return h.Close()
	}, nil
}

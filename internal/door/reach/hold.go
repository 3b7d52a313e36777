package reach

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// holdJSON is printed by hold whenever another process begins or ends to have the repository.
type holdJSON struct {
	Path string `json:"path"`
	// Owner is whether this process has the repository open, and not another one.
	Owner  bool    `json:"owner"`
	Socket *string `json:"socket"` // where this process answers others, null where it does not
}

// HoldCommand is the command that keeps a repository open for others.
func HoldCommand() *line.Bound {
	return LocalLines(verb.Spec{
		Command: "hold", Right: verb.NoRight, Hidden: true, // serve and mcp do the same, and more
		Group: line.GroupCare, Title: "Hold the repository open and serve other mnem processes",
		Doc: "Keep the repository open until stopped, and run the commands of all other mnem\n" +
			"processes on it: what they need is in memory then. While another process does the same this\n" +
			"one waits, and takes over when that ends.",
		Example: "  mnem hold\n  mnem hold --json",
	}, hold)
}

func hold(ctx context.Context, c *line.Line, _ *struct{}) (err error) {
	c.App.Serves()
	h, err := NewHolder(c)
	if err != nil {
		return err
	}
	defer func() { err = line.FirstError(err, h.Close()) }()
	var printErr error
	err = h.Keep(ctx, func(socket string, own bool) {
		printErr = line.FirstError(printErr, printHold(c, h, socket, own), c.Out.Flush())
	})
	return line.FirstError(c.OpenHint(err), printErr)
}

func printHold(c *line.Line, h *peers.Holder, socket string, own bool) error {
	path := filepath.Join(h.Dir(), core.DirName)
	switch {
	case c.InJSON:
		out := holdJSON{Path: path, Owner: own}
		if socket != "" {
			out.Socket = &socket
		}
		return c.PrintJSON(out)
	case own:
		return c.Printf("%s is open here; stop with Ctrl-C\n", line.OneLine(path))
	}
	return c.Printf("another process has %s open; this one waits for it to end\n", line.OneLine(path))
}

// NewHolder returns a holder of the repository that a command is about. It opens nothing.
func NewHolder(c *line.Line) (*peers.Holder, error) { return NewHolderOf(c, 1) }

// NewHolderOf returns a holder of one of as many repositories, which share what a process may keep of them.
func NewHolderOf(c *line.Line, many int) (*peers.Holder, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	open, err := Options(c)
	if open.Memory > 0 {
		open.Memory = max(settings.MinSize, open.Memory/int64(many))
	}
	opt := peers.HostOptions{PID: c.App.PID, Temp: line.FirstOf(c.App.Getenv("TMPDIR"), os.TempDir()), Now: c.App.Now}
	if c.App.Meaning != nil {
		opt.Meaning = c.App.Meaning
	}
	serves := c.App.Serving != nil && c.App.Serving.Load()
	if serves && c.App.Detach != nil && many == 1 {
		go syncRegularly(c.Doing.Ctx, c.App, c.UserConfig(), dir)
	}
	if err == nil && (serves || c.Asked != nil && c.Asked.Rest != nil) {
		opt.Embeds, err = embedsLeft(c)
	} else {
		opt.Finish = func(r *core.Repo) { embedLeft(c.Doing.Ctx, c, r) }
	}
	return peers.NewHolder(dir, open, opt, func(err error) {
		_, _ = fmt.Fprintf(c.App.Stderr, "mnem: %s\n", line.OneLine(err.Error()))
	}), err
}

// share keeps the repository open for a command that works long and needs it again and again, and
// answers other processes in the meantime. done must be called.
func share(c *line.Line) (done func() error, err error) {
	if c.App.Holder != nil {
		return func() error { return nil }, nil
	}
	h, err := NewHolder(c)
	if err != nil {
		return nil, err
	}
	c.App.Holder = h
	return func() error {
		c.Release(nil)
		return h.Close()
	}, nil
}

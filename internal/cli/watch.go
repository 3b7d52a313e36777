package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// watching is a watch under way, by one process or several in turn.
type watching struct {
	ops.WatchRequest // the rest of it
	// passOn prints JSON for another process, and where the watch begins, before all else.
	passOn bool
	begun  bool // whether it was said from where on
}

func (c *cli) watchCommand() *cobra.Command {
	cmd := c.verb("watch")
	cmd.Flags().BoolVar(&c.passOn, "pass-on", false, "for a process that prints it itself")
	_ = cmd.Flags().MarkHidden("pass-on") // it is there
	return cmd
}

// bindWatch binds the verb that goes on in another process where the one that tells it ends.
func bindWatch() *verb {
	return &verb{&ops.Watch.Spec, func(c *cli) (any, func(context.Context) error) {
		w := &watching{}
		return &w.WatchRequest, func(ctx context.Context) error {
			if w.passOn = c.passOn; c.app.forwarded {
				return c.watchForOther(ctx, w)
			}
			err := w.Check()
			if err == nil {
				err = c.watch(ctx, w)
			}
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil // to be told to stop is how it ends
			}
			return err
		}
	}}
}

// watchForOther follows the operations for another process, which goes on elsewhere where this one
// ends.
func (c *cli) watchForOther(ctx context.Context, w *watching) error {
	err := c.withRepo(nil, false, func(ctx context.Context, r *repo.Repo) error {
		ctx, cancel := c.app.Holder.untilEnd(ctx)
		defer cancel()
		return c.watchHere(ctx, r, w)
	})
	if errors.Is(err, context.Canceled) {
		c.exit = operation.Interrupted.Exit
		return nil
	}
	return err
}

// watch follows the operations in the process that has the repository open: this one, where no
// other has it, or else another one after the other, going on where the one before ended.
func (c *cli) watch(ctx context.Context, w *watching) (err error) {
	dir, err := c.dir()
	if err != nil {
		return err
	}
	h := c.app.Holder
	if h == nil || !h.covers(dir) {
		if h, err = c.newHolder(nil); err != nil {
			return err
		}
		defer func() { err = firstError(err, h.Close()) }()
	}
	for first := true; ; first = false {
		own, client, err := h.reach(ctx, c.app.forwarded)
		switch {
		case err != nil && !first && ctx.Err() == nil && passes(err):
			holdOff(ctx) // short-lived commands, one after the other
			continue
		case err != nil:
			return c.openHint(err)
		case own != nil:
			defer own.users.Done()
			return c.watchHere(ctx, own.repo, w)
		}
		if ended, err := c.watchThere(ctx, client, dir, w); err != nil || !ended {
			return err
		}
	}
}

// passes reports whether a repository that cannot be reached may be had soon: not where a process
// that cannot be talked to keeps it.
func passes(err error) bool {
	var skew *owner.SkewError
	return errors.Is(err, store.ErrBusy) && !errors.As(err, &skew) && !errors.Is(err, owner.ErrPeer)
}

// watchThere follows the operations in another process, which is done with client. It returns true
// where that process ended before the watch, and keeps in w how far it came.
func (c *cli) watchThere(
	ctx context.Context, client *owner.Client, dir string, w *watching,
) (ended bool, err error) {
	defer func() { _ = client.Close() }() // all was said
	req := c.commandLine()
	req.Args = w.arguments(dir, c.global.json)
	lines := &lineWriter{max: maxWatchLine, line: func(text []byte) error {
		var v watchedLine
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%w: what another process tells: %w", owner.ErrProtocol, err)
		}
		if v.Begin != nil {
			return c.tell(w, &ops.WatchBegun{Begin: *v.Begin, Seq: v.Seq})
		}
		return c.tell(w, &v.Watched)
	}}
	code, err := client.Run(ctx, req, owner.IO{
		Stdin: strings.NewReader(""), Stdout: lines, Stderr: c.app.Stderr,
	})
	var lost *owner.LostError
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case lines.err != nil:
		return false, lines.err
	case errors.As(err, &lost) || err == nil && code == operation.Interrupted.Exit:
		return true, nil
	case err != nil:
		return false, skewHint(err)
	case code != 0:
		return false, &forwardedError{code}
	}
	return false, nil
}

// arguments is the command line of the rest of a watch, for another process.
func (w *watching) arguments(dir string, asJSON bool) []string {
	args := []string{
		"watch", "--pass-on", "--repo=" + dir, "--since=" + w.Since, "--ref=" + w.Ref,
		"--limit=" + strconv.Itoa(w.Limit), "--diff=" + strconv.FormatBool(w.Diff),
		"--json=" + strconv.FormatBool(asJSON),
	}
	return args
}

// maxWatchLine bounds what another process may say of one operation.
const maxWatchLine = 256 << 20

// watchedLine is what a watch with --pass-on prints: where it begins, then operations.
type watchedLine struct {
	// Begin names the operation whose followers are told, 0 for none.
	Begin *string `json:"begin"`
	ops.Watched
}

// watchHere tells the operations of an open repository, one by one, until ctx or the limit ends it,
// and keeps in w how far it came.
func (c *cli) watchHere(ctx context.Context, r *repo.Repo, w *watching) error {
	c.opened, c.doing.ctx = r, ctx
	defer func() { c.opened = nil }()
	rest := w.WatchRequest
	return ops.Watch.Run(ctx, host{c}, &rest, func(answer any) error { return c.tell(w, answer) })
}

// tell prints one operation at once, so that who reads along sees it, and people from where on it watches.
func (c *cli) tell(w *watching, answer any) (err error) {
	switch a := answer.(type) {
	case *ops.WatchBegun:
		w.Since = a.Begin
		if w.passOn {
			err = c.printJSON(a)
		} else if !w.begun {
			w.begun = true
			c.remark("watching what comes after operation %d; stop with Ctrl-C", a.Seq)
		}
		return firstError(err, c.out.Flush())
	case *ops.Watched:
		if w.passOn || c.global.json {
			err = c.printJSON(a)
		} else {
			err = c.printWatched(a)
		}
		if err = firstError(err, c.out.Flush()); err != nil {
			return err
		}
		w.Since = a.Op.String()
		if w.Limit > 0 {
			w.Limit-- // the process that tells counts them too
		}
	}
	return err
}

// lineWriter hands on what is written to it line by line. The first error stays.
type lineWriter struct {
	line func([]byte) error
	max  int // bytes of a line
	part []byte
	err  error
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for w.err == nil && len(p) > 0 {
		text, rest, whole := bytes.Cut(p, []byte("\n"))
		if p = rest; len(w.part)+len(text) > w.max {
			w.err = fmt.Errorf("%w: a line of more than %d bytes", owner.ErrProtocol, w.max)
		}
		if w.part = append(w.part, text...); whole && w.err == nil {
			w.err = w.line(w.part)
			w.part = w.part[:0]
		}
	}
	if w.err != nil {
		return 0, w.err
	}
	return n, nil
}

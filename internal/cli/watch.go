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

// watchOptions say what is watched, and what is told of it.
type watchOptions struct {
	since string
	ref   string
	limit int
	diff  bool
	// passOn prints JSON for another process, and where the watch begins, before all else.
	passOn bool
	begun  bool // whether it was said from where on
	done   bool // whether limit operations were told
}

func (c *cli) watchCommand() *cobra.Command {
	var opt watchOptions
	cmd := &cobra.Command{
		Use:     "watch [flags]",
		GroupID: groupHistory,
		Short:   "Tell each operation as it is committed",
		Long: "Print the operations after one that is named, by default the newest, and then each one as it\n" +
			"is committed, by whatever process: number, time, actor, command, the refs that moved, and how\n" +
			"many nodes and edges that changed. With --json, one object a line. It ends when interrupted.\n\n" +
			"Nothing is left out, however slowly the lines are read. Who stops goes on with --since and the\n" +
			"last operation seen; where the operations after that were collected meanwhile, the error names\n" +
			"the oldest one to go on from.",
		Example: "  mnem watch --since @~1 -n 1 --diff\n  mnem watch --since 0 --ref main -n 2\n" +
			"  mnem watch --since 0 -n 3 --json",
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&opt.since, "since", "", "begin after this `OP`eration, 0 for the first one; "+
		"see 'mnem op' (default: now)")
	f.StringVar(&opt.ref, "ref", "", "only operations that moved this `REF`: a branch, a tag or refs/…")
	f.IntVarP(&opt.limit, "limit", "n", 0, "end after `N` operations; 0 for no end")
	f.BoolVar(&opt.diff, "diff", false, "the nodes and edges that changed, not only how many")
	f.BoolVar(&opt.passOn, "pass-on", false, "for a process that prints it itself")
	_ = f.MarkHidden("pass-on") // it is there
	c.complete(cmd, "ref", completeBranches)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		if opt.limit < 0 {
			return usagef("--limit: %d is below 0", opt.limit)
		}
		if c.app.forwarded {
			return c.watchForOther(cmd, &opt)
		}
		err := c.watch(cmd, opt)
		if cmd.Context().Err() != nil && errors.Is(err, context.Canceled) {
			return nil // to be told to stop is how it ends
		}
		return watchHint(err)
	})
}

// watchForOther follows the operations for another process, which goes on elsewhere where this one
// ends.
func (c *cli) watchForOther(cmd *cobra.Command, opt *watchOptions) error {
	err := c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
		ctx, cancel := c.app.Holder.untilEnd(ctx)
		defer cancel()
		return c.watchHere(ctx, r, opt)
	})
	if errors.Is(err, context.Canceled) {
		c.exit = operation.Interrupted.Exit
		return nil
	}
	return watchHint(err)
}

// watch follows the operations in the process that has the repository open: this one, where no
// other has it, or else another one after the other, going on where the one before ended.
func (c *cli) watch(cmd *cobra.Command, opt watchOptions) (err error) {
	dir, err := c.dir()
	if err != nil {
		return err
	}
	h := c.app.Holder
	if h == nil || !h.covers(dir) {
		if h, err = c.newHolder(cmd); err != nil {
			return err
		}
		defer func() { err = firstError(err, h.Close()) }()
	}
	ctx := cmd.Context()
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
			return c.watchHere(ctx, own.repo, &opt)
		}
		if ended, err := c.watchThere(ctx, client, dir, &opt); err != nil || !ended {
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
// where that process ended before the watch, and keeps in opt how far it came.
func (c *cli) watchThere(
	ctx context.Context, client *owner.Client, dir string, opt *watchOptions,
) (ended bool, err error) {
	defer func() { _ = client.Close() }() // all was said
	req := c.commandLine()
	req.Args = opt.arguments(dir, c.global.json)
	lines := &lineWriter{max: maxWatchLine, line: func(text []byte) error {
		var v watchedLine
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%w: what another process tells: %w", owner.ErrProtocol, err)
		}
		if v.Begin != nil {
			opt.since = *v.Begin
			c.watchBegins(opt, v.Seq)
			return nil
		}
		return c.tell(opt, &v.watchJSON)
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
func (o *watchOptions) arguments(dir string, asJSON bool) []string {
	args := []string{
		"watch", "--pass-on", "--repo=" + dir, "--since=" + o.since, "--ref=" + o.ref,
		"--limit=" + strconv.Itoa(o.limit), "--diff=" + strconv.FormatBool(o.diff),
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
	watchJSON
}

// watchHint says how to go on where operations are not kept any more.
func watchHint(err error) error {
	var lost *repo.HorizonError
	if !errors.As(err, &lost) {
		return err
	}
	return hint(err, "'mnem watch --since %d' goes on from there; compare commits with 'mnem diff' "+
		"for what was missed", lost.Seq)
}

// watchHere tells the operations of an open repository, one by one, until ctx or the limit ends it,
// and keeps in opt how far it came.
func (c *cli) watchHere(ctx context.Context, r *repo.Repo, opt *watchOptions) error {
	if err := c.watchFrom(ctx, r, opt); err != nil {
		return err
	}
	for op, err := range r.Watch(ctx, repo.WatchOptions{Since: opt.since, Ref: opt.ref}) {
		if err != nil {
			return err
		}
		v, err := jsonWatched(ctx, op, opt.diff)
		if err == nil {
			err = c.tell(opt, v)
		}
		if err != nil || opt.done {
			return err
		}
	}
	return nil
}

// watchFrom names the operation to begin after by its CID, which means the same for ever. What it
// does not find is for the watch to explain.
func (c *cli) watchFrom(ctx context.Context, r *repo.Repo, opt *watchOptions) error {
	e, err := r.Operation(ctx, firstOf(opt.since, ops.NewestOp))
	if err != nil {
		return nil
	}
	opt.since = e.CID.String()
	if opt.passOn {
		line := struct {
			Begin string `json:"begin"`
			Seq   uint64 `json:"seq"`
		}{opt.since, e.Operation.Seq}
		return firstError(c.printJSON(line), c.out.Flush())
	}
	c.watchBegins(opt, e.Operation.Seq)
	return nil
}

// watchBegins tells people once that it watches, and from where.
func (c *cli) watchBegins(opt *watchOptions, seq uint64) {
	if !opt.begun {
		opt.begun = true
		c.remark("watching what comes after operation %d; stop with Ctrl-C", seq)
	}
}

// tell prints one operation at once, so that who reads along sees it.
func (c *cli) tell(opt *watchOptions, v *watchJSON) error {
	var err error
	if opt.passOn || c.global.json {
		err = c.printJSON(v)
	} else {
		err = c.printWatched(v)
	}
	if err = firstError(err, c.out.Flush()); err != nil {
		return err
	}
	opt.since = v.Op.String()
	if opt.limit > 0 {
		opt.limit--
		opt.done = opt.limit == 0
	}
	return nil
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

package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/peers"
	"github.com/mnem-project/mnem/policy"
	"github.com/mnem-project/mnem/repo"
)

// defaultGrace is how long operations are kept whatever their number.
const defaultGrace = 14 * 24 * time.Hour

// maxGrace is the longest grace: a century.
const maxGrace = 100 * 366 * 24 * time.Hour

// gcJSON is what a collection removed, or would remove.
type gcJSON struct {
	Blocks  int    `json:"blocks"`
	Bytes   int64  `json:"bytes"`
	Kept    int    `json:"kept"`
	Horizon uint64 `json:"horizon"` // the oldest operation that is kept
	DryRun  bool   `json:"dry_run"`
}

func (c *cli) gcCommand() *cobra.Command {
	var keep int
	var grace time.Duration
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "gc",
		GroupID: groupCare,
		Short:   "Remove what nothing leads to any more",
		Long: "Remove what no ref leads to, neither now nor in an operation that is kept: the newest\n" +
			"--keep-ops ones, those of the last --grace, and the one before these, so that all that was\n" +
			"there within --grace can be brought back. Older operations leave the operation log, and can be\n" +
			"neither undone nor restored. Commits, tags, sessions, stages and merges in progress that a ref\n" +
			"leads to stay with all they need. Where anything is damaged nothing is removed.\n\n" +
			"Operations are as old as this machine's clock says, whatever --time they and gc are given.\n" +
			"Where the clock was wrong and operations are later than it is now, --grace keeps them all.\n\n" +
			"It runs by itself after a write that leaves the log twice as long as --keep-ops, unless the\n" +
			"config key gc.auto is false. After a write that somebody made who may not run gc, a caller of a\n" +
			"server or an agent whom the policy does not allow it, --grace is then two weeks at least.",
		Example: "  mnem gc --dry-run\n  mnem gc\n  mnem gc --keep-ops 1 --grace 0s",
		Args:    cobra.NoArgs,
	}
	c.writeFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&keep, "keep-ops", repo.DefaultKeepOps, "how many of the newest operations to keep "+
		"(MNEM_GC_KEEP_OPS; config: gc.keepOps)")
	f.DurationVar(&grace, "grace", defaultGrace, "keep operations that are not older than this "+
		"(MNEM_GC_GRACE; config: gc.grace)")
	f.BoolVar(&dryRun, "dry-run", false, "count what would be removed and remove nothing")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		opt, err := c.gcOptions(cmd.Flags().Changed, keep, grace)
		if err != nil {
			return err
		}
		opt.DryRun = dryRun
		if opt.Stamp, err = c.stamp(cmd); err != nil {
			return err
		}
		return c.withRepo(cmd, !dryRun, func(ctx context.Context, r *repo.Repo) error {
			p := c.progress()
			defer p.done()
			opt.Progress = func(what string, done int) { p.set(what, done, 0) }
			res, err := r.GC(ctx, opt)
			if err != nil {
				return err
			}
			p.done()
			return c.printGC(res, dryRun)
		})
	})
}

// gcOptions returns what to keep: by flag, variable, configuration or default.
func (c *cli) gcOptions(
	given func(flag string) bool, keep int, grace time.Duration,
) (repo.GCOptions, error) {
	opt := repo.GCOptions{KeepOps: keep, Grace: grace}
	if keep < 1 {
		return opt, usagef("--keep-ops: at least 1 operation is kept")
	}
	if grace < 0 || grace > maxGrace {
		return opt, usagef("--grace: %s is not between 0 and 100 years", grace)
	}
	if !given("keep-ops") {
		text, err := c.fromEnvOr("MNEM_GC_KEEP_OPS", "gc.keepOps")
		if err != nil {
			return opt, err
		}
		if text != "" {
			if opt.KeepOps, err = parseKeepOps(text); err != nil {
				return opt, err
			}
		}
	}
	if !given("grace") {
		text, err := c.fromEnvOr("MNEM_GC_GRACE", "gc.grace")
		if err != nil {
			return opt, err
		}
		if text != "" {
			if opt.Grace, err = parseGrace(text); err != nil {
				return opt, err
			}
		}
	}
	return opt, nil
}

// fromEnvOr returns the value of a variable, or else of a config key.
func (c *cli) fromEnvOr(variable, key string) (string, error) {
	if v := c.env(variable); v != "" {
		return v, nil
	}
	return c.setting(key)
}

func parseKeepOps(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: gc.keepOps: %q is not a number of operations", repo.ErrInvalid, s)
	}
	return n, nil
}

func parseGrace(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxGrace {
		return 0, fmt.Errorf("%w: gc.grace: %q is not a duration like 336h", repo.ErrInvalid, s)
	}
	return d, nil
}

func (c *cli) printGC(res *repo.GCResult, dryRun bool) error {
	if c.global.json {
		return c.printJSON(gcJSON{res.Blocks, res.Bytes, res.Kept, res.Horizon, dryRun})
	}
	verb := "removed"
	if dryRun {
		verb = "would remove"
	}
	return c.printf("%s %s, %s; %s kept\n", verb, plural(res.Blocks, "block"),
		plural(int(res.Bytes), "byte"), plural(res.Kept, "block"))
}

// collecting says what a collection after a write keeps, nil where there is to be none.
func (c *cli) collecting() *peers.Collect {
	auto, err := c.fromEnvOr("MNEM_GC_AUTO", "gc.auto")
	if err != nil || auto == "false" {
		return nil
	}
	opt, err := c.gcOptions(func(string) bool { return false }, repo.DefaultKeepOps, defaultGrace)
	if err != nil {
		return nil
	}
	if !c.mayCollect(c.agent()) {
		opt.Grace = max(opt.Grace, defaultGrace)
	}
	return &peers.Collect{KeepOps: opt.KeepOps, Grace: opt.Grace}
}

// autoGC collects after a write that makes it worth while, when the answer is out. What goes wrong
// is a remark: the write succeeded.
func (c *cli) autoGC(ctx context.Context, r *repo.Repo) {
	keep := c.collecting()
	if keep == nil || c.out.Flush() != nil {
		return
	}
	opt := repo.GCOptions{KeepOps: keep.KeepOps, Grace: keep.Grace}
	res, err := ops.CollectAfter(ctx, r, opt, func() (repo.Stamp, error) { return c.stamp(nil) })
	if err != nil {
		c.remark("note: collecting garbage failed: %s", line(err.Error()))
	} else if res != nil {
		c.collected(res)
	}
}

// collected tells of a collection after a write.
func (c *cli) collected(res *repo.GCResult) {
	c.remark("collected %s, %s", plural(res.Blocks, "block"), plural(int(res.Bytes), "byte"))
}

// mayCollect reports whether the caller may collect garbage. Callers of a server are taken for such
// as may not, since they may write without being allowed to destroy.
func (c *cli) mayCollect(agent string) bool {
	if c.app.Remote {
		return false
	}
	if agent == "" {
		return true
	}
	path, err := c.policyPath()
	if err != nil {
		return false
	}
	p, _ := policy.Read(path) // a damaged one refuses
	return p.Operation(agent, "gc") == nil
}

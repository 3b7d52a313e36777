package cli

import (
	"context"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/policy"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) printGC(res *ops.Collected) error {
	verb := "removed"
	if res.DryRun {
		verb = "would remove"
	}
	return c.printf("%s %s, %s; %s kept\n", verb, plural(res.Blocks, "block"),
		plural(int(res.Bytes), "byte"), plural(res.Kept, "block"))
}

// autoGC collects after a write that makes it worth while, when the answer is out. What goes wrong
// is a remark: the write succeeded.
func (c *cli) autoGC(ctx context.Context, r *repo.Repo) {
	auto, err := host{c}.Setting("MNEM_GC_AUTO", "gc.auto")
	if err != nil || auto == "false" {
		return
	}
	keep := &ops.GCRequest{KeepOps: repo.DefaultKeepOps, Grace: ops.DefaultGrace}
	if keep.Configure(host{c}.Setting) != nil {
		return
	}
	opt := repo.GCOptions{KeepOps: keep.KeepOps, Grace: keep.Grace}
	if !c.mayCollect(c.agent()) {
		opt.Grace = max(opt.Grace, ops.DefaultGrace)
	}
	if due, err := r.GCDue(ctx, opt); err != nil || !due || c.out.Flush() != nil {
		return
	}
	if opt.Stamp, err = c.stamp(nil); err != nil {
		return
	}
	opt.Head = nil // the write has moved it
	opt.Command, opt.NoWait = []string{"gc", "--auto"}, true
	res, err := r.GC(ctx, opt)
	if err != nil {
		c.remark("note: collecting garbage failed: %s", line(err.Error()))
	} else if res.Blocks > 0 {
		c.remark("collected %s, %s", plural(res.Blocks, "block"), plural(int(res.Bytes), "byte"))
	}
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

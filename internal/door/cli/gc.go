package cli

import (
	"context"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// collecting says what a collection after a write keeps, nil where there is to be none.
func (c *cli) collecting() *peers.Collect {
	auto, err := host{c}.Setting("MNEM_GC_AUTO", "gc.auto")
	if err != nil || auto == "false" {
		return nil
	}
	keep := &upkeep.GCRequest{KeepOps: care.DefaultKeepOps, Grace: upkeep.DefaultGrace}
	if keep.Configure(host{c}.Setting) != nil {
		return nil
	}
	if !c.mayCollect(c.agent()) {
		keep.Grace = max(keep.Grace, upkeep.DefaultGrace)
	}
	return &peers.Collect{KeepOps: keep.KeepOps, Grace: keep.Grace}
}

// autoGC collects after a write that makes it worth while, when the answer is out. What goes wrong
// is a remark: the write succeeded.
func (c *cli) autoGC(ctx context.Context, r *core.Repo) {
	keep := c.collecting()
	if keep == nil || c.Out.Flush() != nil {
		return
	}
	opt := care.GCOptions{KeepOps: keep.KeepOps, Grace: keep.Grace}
	res, err := upkeep.CollectAfter(ctx, r, opt, func() (state.Stamp, error) { return c.stamp() })
	if err != nil {
		c.Remark("note: collecting garbage failed: %s", line(err.Error()))
	} else if res != nil {
		c.collected(res)
	}
}

// collected tells of a collection after a write.
func (c *cli) collected(res *core.GCResult) {
	c.Remark("collected %s, %s", plural(res.Blocks, "block"), plural(int(res.Bytes), "byte"))
}

// mayCollect reports whether the caller may collect garbage. Callers of a server are taken for such
// as may not, since they may write without being allowed to destroy.
func (c *cli) mayCollect(agent string) bool {
	if c.by.Remote {
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

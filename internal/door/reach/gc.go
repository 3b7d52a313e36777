package reach

import (
	"context"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// collecting says what a collection after a write keeps, nil for no collection.
func collecting(c *line.Line) *peers.Collect {
	most, err := VerbHost{c}.Setting(upkeep.KeepOpsEnv, upkeep.KeepOpsKey)
	if err != nil || most == "0" {
		return nil
	}
	keep := &upkeep.GCRequest{KeepOps: care.DefaultKeepOps, Grace: upkeep.DefaultGrace}
	if keep.Configure(VerbHost{c}.Setting) != nil {
		return nil
	}
	if !mayCollect(c, c.Agent()) {
		keep.Grace = max(keep.Grace, upkeep.DefaultGrace)
	}
	return &peers.Collect{KeepOps: keep.KeepOps, Grace: keep.Grace}
}

// autoGC collects after a write that makes it worth while, when the answer is out. What goes wrong
// is a remark: the write succeeded.
func autoGC(ctx context.Context, c *line.Line, r *core.Repo) {
	keep := collecting(c)
	if keep == nil || c.Out.Flush() != nil {
		return
	}
	opt := care.GCOptions{KeepOps: keep.KeepOps, Grace: keep.Grace}
	res, err := upkeep.CollectAfter(ctx, r, opt, func() (state.Stamp, error) { return c.Stamp() })
	if err != nil {
		c.Remark("note: collecting garbage failed: %s", line.OneLine(err.Error()))
	} else if res != nil {
		collected(c, res)
	}
}

// collected tells of a collection after a write.
func collected(c *line.Line, res *core.GCResult) {
	c.Remark("collected %s, %s", line.Plural(res.Blocks, "block"), line.Plural(int(res.Bytes), "byte"))
}

// mayCollect reports whether the caller may collect garbage. Callers of a server are taken for such
// as may not, since they may write without being allowed to destroy.
func mayCollect(c *line.Line, agent string) bool {
	if c.By.Remote {
		return false
	}
	if agent == "" {
		return true
	}
	path, err := c.PolicyPath()
	if err != nil {
		return false
	}
	p, _ := policy.Read(path) // a damaged one refuses
	return p.Operation(agent, "gc") == nil
}

package reach

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/agent/hooks"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// mayCapture reports whether what hooks noted is taken in before a verb answers: where it reads the newest
// memory, or what sessions recorded, for the user of this machine, and before texts are erased.
func mayCapture(c *line.Line, spec *verb.Spec, req any) bool {
	server := c.By.Remote && c.By.NoSign // whose callers may be allowed to read alone
	reads := spec.Group == "read" && spec.EffectOf(req) == verb.Reads
	reads = reads || (spec == &remembering.Review.Spec || spec == &remembering.Cues.Spec) && spec.EffectOf(req) == verb.Reads
	return (reads || readsReceipts(spec)) && !c.Quietly && !server && !slices.Contains(verb.GivenOf(req), "at")
}

// readsReceipts reports whether a verb is about receipts of sessions.
func readsReceipts(spec *verb.Spec) bool {
	return slices.Contains([]*verb.Spec{
		&asking.Last.Spec, &upkeep.Replay.Spec, &asking.SessionLog.Spec, &asking.SessionList.Spec, &upkeep.Purge.Spec,
	}, spec)
}

// Capture takes in what hooks noted. Reading goes on whatever comes of it.
func Capture(ctx context.Context, c *line.Line, receipts bool) {
	dir, err := c.Dir()
	if err != nil {
		return
	}
	spool := filepath.Join(dir, core.DirName)
	if !capture.Pending(spool) && !(receipts && capture.Unrecorded(spool)) {
		return
	}
	if on, err := c.Configured(hooks.OnKey); err != nil || on == "false" {
		return
	}
	if err := c.Follow(); err == nil && c.By.Following != nil && c.By.Following.ReadOnly != "" {
		return // it is taken in where there is a branch to write to
	}
	req, err := ingesting.Capture.DecodeRequest([]byte(`{"some":true}`), []string{"some"})
	if err == nil {
		err = AskAside(ctx, Aside(ctx, c, dir), &ingesting.Capture.Spec, req, func(any) error { return nil })
	}
	if err != nil && !errors.Is(err, store.ErrReadOnly) {
		c.Remark("what agents said is not taken in yet, 'mnem capture' tells why")
	}
}

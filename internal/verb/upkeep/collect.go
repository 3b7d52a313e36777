package upkeep

import (
	"context"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
)

// CollectAfter collects garbage after a write that makes it worth while, nil if there is none to
// remove. stamp says who does it.
func CollectAfter(
	ctx context.Context, r *core.Repo, opt care.GCOptions, stamp func() (state.Stamp, error),
) (*core.GCResult, error) {
	if due, err := care.GCDue(ctx, r, opt); err != nil || !due {
		return nil, nil // the write succeeded, and a later one tries again
	}
	var err error
	if opt.Stamp, err = stamp(); err != nil {
		return nil, nil
	}
	opt.Head = nil // the write has moved it
	opt.Command, opt.NoWait = []string{"gc", "--auto"}, true
	res, err := care.GC(ctx, r, opt)
	if err != nil || res.Blocks == 0 {
		return nil, err
	}
	return res, nil
}

package ops

import (
	"context"

	"github.com/mnem-project/mnem/repo"
)

// CollectAfter collects garbage after a write that makes it worth while, nil where there is none to
// remove. stamp says who does it.
func CollectAfter(
	ctx context.Context, r *repo.Repo, opt repo.GCOptions, stamp func() (repo.Stamp, error),
) (*repo.GCResult, error) {
	if due, err := r.GCDue(ctx, opt); err != nil || !due {
		return nil, nil // the write succeeded, and a later one tries again
	}
	var err error
	if opt.Stamp, err = stamp(); err != nil {
		return nil, nil
	}
	opt.Head = nil // the write has moved it
	opt.Command, opt.NoWait = []string{"gc", "--auto"}, true
	res, err := r.GC(ctx, opt)
	if err != nil || res.Blocks == 0 {
		return nil, err
	}
	return res, nil
}

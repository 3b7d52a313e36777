package core

import (
	"context"

	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
)

// rebase makes a commit of next, which was made upon base, on a branch that may be elsewhere by
// now: then what it changes is merged onto the head, so that history stays linear. What does not
// merge is kept, and comes back as the error to report.
func (t *Tx) rebase(
	ctx context.Context, ref Ref, base, head *Snapshot, next *state.State, opt CommitOptions,
	res *CommitResult,
) (*MergeError, error) {
	if base.Id == head.Id {
		return nil, t.Land(ctx, ref, head, next, nil, opt, res)
	}
	m, err := merge3.MergeStates(ctx, t.Stage, base.State, head.State, next)
	if err != nil {
		return nil, err
	}
	if len(m.Conflicts) > 0 {
		if err := state.NoneDangling(ctx, base.State, next); err != nil {
			return nil, err
		}
		return t.keep(ctx, ref, base, head, next, m, opt)
	}
	res.Rebased = true
	return nil, t.Land(ctx, ref, head, m.State, nil, opt, res)
}

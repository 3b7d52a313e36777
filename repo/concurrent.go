package repo

import "context"

// rebase makes a commit of next, which was made upon base, on a branch that may be elsewhere by
// now: then what it changes is merged onto the head, so that history stays linear. What does not
// merge is kept, and comes back as the error to report.
func (t *tx) rebase(
	ctx context.Context, ref Ref, base, head *Snapshot, next *state, opt CommitOptions,
	res *CommitResult,
) (*MergeError, error) {
	if base.id == head.id {
		return nil, t.land(ctx, ref, head, next, nil, opt, res)
	}
	m, err := mergeStates(ctx, t.stage, base.state, head.state, next)
	if err != nil {
		return nil, err
	}
	if len(m.conflicts) > 0 {
		if err := noneDangling(ctx, base.state, next); err != nil {
			return nil, err
		}
		return t.keep(ctx, ref, base, head, next, m, opt)
	}
	res.Rebased = true
	return nil, t.land(ctx, ref, head, m.state, nil, opt, res)
}

package care

import (
	"context"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
)

// oldest returns the sequence number of the oldest operation to keep. It reads the log, and uses eight bytes of
// memory for each operation.
func (g *Collector) oldest(head store.Head) (uint64, error) {
	var times []graph.Time // of the operations, newest first
	for e, err := range commit.Operations(g.Ctx, g.Repo.Facts(), head.Operation) {
		if err != nil {
			return 0, err
		}
		times = append(times, e.Operation.Time)
		if g.Opt.Grace == 0 && len(times) == g.Opt.KeepOps {
			break
		}
	}
	keep := len(times)
	if g.Opt.Grace > 0 {
		keep = max(min(keep, g.Opt.KeepOps), graced(times, g.Repo.Now(g.Opt.Stamp), g.Opt.Grace))
	}
	return head.Seq + 1 - uint64(keep), nil
}

// graced returns how many of the newest operations a grace period keeps. times holds their times, newest first; it
// is overwritten. The refs left by an operation existed until the next one, so each is kept if the next is within
// the grace period.
//
// A time in the future, or before that of an earlier operation, is not from a clock: programs that took it from a
// caller have recorded such. Such an operation counts as done when the next one was, and the newest of all as done now.
func graced(times []graph.Time, now graph.Time, grace time.Duration) int {
	const odd = graph.Time(-1 << 63)
	last := odd // of the operations before
	for i := len(times) - 1; i >= 0; i-- {
		if times[i] < last || times[i] > now {
			times[i] = odd
		} else {
			last = times[i]
		}
	}
	done, since := now, now-graph.Time(grace.Microseconds()) // when the next one was done
	for i, at := range times {
		if done < since {
			return i
		}
		if at != odd {
			done = at
		}
	}
	return len(times)
}

// GCDue reports whether the log of operations is more than twice as long as a collection would leave it, so that
// the garbage probably exceeds the rest. It reads one operation, and a few more if the log is long.
func GCDue(ctx context.Context, r *core.Repo, opt GCOptions) (bool, error) {
	head, err := r.Store.Head(ctx)
	if err != nil || head.Seq == 0 {
		return false, err
	}
	newest, err := commit.ReadOperation(ctx, r.Facts(), head.Operation)
	if err != nil {
		return false, err
	}
	if opt.KeepOps <= 0 {
		opt.KeepOps = DefaultKeepOps
	}
	length := head.Seq - max(newest.Horizon, 1)
	if length < 2*uint64(opt.KeepOps) || opt.Grace == 0 {
		return length >= 2*uint64(opt.KeepOps), nil
	}
	// Otherwise each write would collect if all of a long log is within the grace period.
	middle, err := commit.OperationAt(ctx, r.Facts(), head.Operation, head.Seq-length/2)
	return err == nil && middle.Operation.Time < r.Now(opt.Stamp)-graph.Time(opt.Grace.Microseconds()), err
}

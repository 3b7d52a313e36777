package care

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// DefaultKeepOps is how many operations a collection keeps unless told otherwise.
	DefaultKeepOps = 10_000
	// sweepSlice is how many blocks are removed at a time: writers wait for at most one slice, a few milliseconds.
	sweepSlice = 2048
)

// ErrUnsupported is returned when the store does not support an operation.
var ErrUnsupported = errors.New("not supported by the store")

// GCOptions says what a collection keeps.
type GCOptions struct {
	state.Stamp
	// KeepOps is how many of the newest operations are kept, at least 1; 0 means DefaultKeepOps.
	KeepOps int
	// Grace also keeps every state of the refs that existed within this long before now: operations that are not
	// older, and the one before these. Now is core.Options.Now, and state.Stamp.Time only if there is no clock.
	Grace time.Duration
	// DryRun counts what would be removed and removes nothing.
	DryRun bool
	// NoWait removes nothing if an export, import, check or collection is running.
	NoWait bool
	// Progress, if set, is called now and then on the calling goroutine.
	Progress func(what string, done int)
}

// GC removes blocks that are unreachable from the refs of every kept operation, from leases and from snapshots in
// use. Operations that are not kept fall behind a horizon, which is recorded as an operation if it moves, and the
// op log ends there. Indexes of graphs that are not kept go too. Others may read and write concurrently: their
// writes stay, and they wait for at most one slice of removals; imports, exports and Fsck wait for the removals, or
// GC for them. If it meets damage it returns an error wrapping store.ErrCorrupt and removes nothing, as what a
// damaged block leads to is unknown. If much was removed, the store is rewritten to free its disk space. It uses
// some 30 bytes of memory for each block that stays, 40 for each that goes, and 50 for each that is found but not
// read yet. It reads all facts once, in storage order, and garbage once more, or twice if some was never reachable
// from an operation, or data is written concurrently, or damaged.
func GC(ctx context.Context, r *core.Repo, opt GCOptions) (*core.GCResult, error) {
	if r.Ro && !opt.DryRun {
		return nil, store.ErrReadOnly
	}
	if opt.KeepOps < 0 || opt.Grace < 0 {
		return nil, state.Invalidf("gc: a negative number of operations, or grace")
	}
	opt.KeepOps = cmp.Or(opt.KeepOps, DefaultKeepOps)
	if r.SharedStore != nil { // blocks that others read since are reachable from these operations
		opt.Grace = max(opt.Grace, r.SharedStore.Lease())
	}
	if opt.Progress == nil {
		opt.Progress = func(string, int) {}
	}
	plain := ctx
	if !opt.DryRun && !opt.NoWait {
		ctx = store.Erasing(ctx) // it makes room, and was asked for
	}
	g := &Collector{Ctx: ctx, plain: plain, Repo: r, Opt: opt, Res: &core.GCResult{DryRun: opt.DryRun}}
	var ok, okCells bool
	g.facts, ok = r.Store.Facts().(store.Deleter)
	g.Derived, okCells = r.Store.Derived().(DerivedDeleter)
	if !opt.DryRun && (!ok || !okCells) {
		return nil, fmt.Errorf("gc: %w", ErrUnsupported)
	}
	asked := r.Collected.Begun.Load()
	if !opt.NoWait {
		if err := r.Collecting.Take(ctx); err != nil {
			return nil, fmt.Errorf("gc: %w", err)
		}
	} else if !r.Collecting.Try() {
		return g.Res, nil
	}
	defer r.Collecting.Give()
	last := r.Collected.Last
	if last.Number > asked && !opt.DryRun && opt.KeepOps == last.KeepOps && opt.Grace == last.Grace {
		return &last.Res, nil
	}
	number := r.Collected.Begun.Add(1)
	var err error
	if !opt.DryRun && !opt.NoWait {
		err = finishHalf(ctx, r)
	}
	if err == nil {
		err = g.run()
	}
	if err == nil {
		err = g.reclaim()
	}
	if err == nil && !opt.DryRun {
		err = expelPending(ctx, r)
	}
	if err != nil {
		return nil, fmt.Errorf("gc: %w", err)
	}
	if !opt.DryRun {
		r.Collected.Last = core.Collection{Number: number, KeepOps: opt.KeepOps, Grace: opt.Grace, Res: *g.Res}
	}
	return g.Res, nil
}

// reclaimShare is the fraction of the remaining size that must have been removed before the store is rewritten, so
// that rewriting costs at most a few times what it frees.
const reclaimShare = 4

// reclaim frees the disk space of removed blocks, if it is much. No other call waits for it.
func (g *Collector) reclaim() error {
	st, ok := g.Repo.Store.(store.Reclaimer)
	if !ok || g.Opt.DryRun {
		return nil
	}
	much := g.Res.Bytes > 0 && g.Res.Bytes >= g.KeptBytes/reclaimShare
	if !much && !g.short() {
		return nil
	}
	g.Opt.Progress("give back room", 0)
	err := st.Reclaim(g.Ctx)
	if !errors.Is(err, store.ErrNoRoom) {
		return err
	}
	// Removed blocks take space until there is enough: the store compacts itself as it is written.
	g.Res.MustFree = shortageOf(err).bytes
	return nil
}

// short reports whether an explicit collection runs on a disk without space for other changes: an earlier one may
// have had no space to free any.
func (g *Collector) short() bool {
	st, ok := g.Repo.Store.(store.Roomer)
	return ok && !g.Opt.NoWait && errors.Is(st.Room(g.plain), store.ErrNoRoom)
}

// DerivedDeleter is the interface that a collection requires of the derived store.
type DerivedDeleter interface {
	store.Deleter
	store.CellDeleter
}

// Collector is one collection.
type Collector struct {
	Ctx     context.Context
	plain   context.Context // Ctx without the right to the space reserved for erasing
	Repo    *core.Repo
	Opt     GCOptions
	Res     *core.GCResult
	facts   store.Deleter
	Derived DerivedDeleter

	at    store.Head // when it was marked last
	moves bool       // whether operations fall behind the horizon
	was   uint64     // the horizon before
	Marks *marker
	live  state.CidSet // derived blocks of indexes that stay
	// cells holds the cells of indexes that stay, with the block that each named when it was walked.
	cells map[ipld.CID]ipld.CID
	// KeptBytes is the size of the blocks that stay.
	KeptBytes int64

	Roots []ipld.CID // blocks to remove that a name could lead to, which go first
	Rest  []ipld.CID // other blocks to remove
}

func (g *Collector) run() error {
	if err := g.MoveHorizon(); err != nil {
		return err
	}
	g.Marks = NewMarker(g.Ctx, g.Repo, g.Opt.Progress)
	known, err := g.ReadAll()
	if err != nil {
		return err
	}
	if !known {
		if err := g.Mark(); err != nil {
			return err
		}
	}
	if !g.Opt.DryRun {
		if ok, err := g.Repo.Keep.Stop(g.Ctx, !g.Opt.NoWait); err != nil || !ok {
			return err
		}
		defer g.Repo.Keep.Still.Unlock()
	}
	if !known {
		if err := g.List(); err != nil {
			return err
		}
	}
	if err := g.sweep(); err != nil {
		return err
	}
	kept, bytes := g.Res.Kept, g.KeptBytes
	_, err = g.Repo.TransactAnew(g.Ctx, func() (ipld.CID, error) {
		g.Res.Kept, g.KeptBytes = kept, bytes
		return ipld.CID{}, g.SweepDerived()
	})
	return err
}

// MoveHorizon finds the oldest operation to keep and, except in a dry run, records it.
func (g *Collector) MoveHorizon() error {
	head, err := g.Repo.Store.Head(g.Ctx)
	if err != nil {
		return fmt.Errorf("read operation head: %w", err)
	}
	if g.Res.Horizon, err = g.oldest(head); err != nil {
		return err
	}
	newest, err := commit.ReadOperation(g.Ctx, g.Repo.Facts(), head.Operation)
	if err != nil {
		return err
	}
	g.was = newest.Horizon
	g.moves = g.Res.Horizon > max(g.was, 1)
	if g.Opt.DryRun || !g.moves {
		return nil
	}
	_, err = g.Repo.Transact(g.Ctx, g.Opt.Stamp, func(t *core.Tx) error {
		t.Horizon = g.Res.Horizon
		return nil
	})
	return err
}

// Mark marks everything reachable from the refs, the kept operations and the leases. It may be called again to mark
// additions.
func (g *Collector) Mark() error {
	head, err := g.Repo.Store.Head(g.Ctx)
	if err != nil {
		return fmt.Errorf("read operation head: %w", err)
	}
	if err := g.Marks.operations(head.Operation, g.Res.Horizon); err != nil {
		return err
	}
	g.at = head
	kept := g.Repo.Keep.Leased()
	if g.Repo.SharedStore != nil {
		others, err := g.Repo.SharedStore.Kept(g.Ctx)
		if err != nil {
			return err
		}
		kept = append(kept, others...)
	}
	for _, c := range kept {
		if err := g.Marks.lease(c); err != nil {
			return err
		}
	}
	return nil
}

// List finds the blocks to remove.
func (g *Collector) List() error {
	return g.Repo.Store.Facts().Iterate(g.Ctx, ipld.CID{}, func(b store.Block) error {
		if g.Marks.has(b.CID) {
			g.keep(b)
		} else {
			g.goes(b.CID, isNamed(b), len(b.Data))
		}
		return nil
	})
}

func (g *Collector) goes(c ipld.CID, named bool, bytes int) {
	if named {
		g.Roots = append(g.Roots, c)
	} else {
		g.Rest = append(g.Rest, c)
	}
	g.count(bytes)
}

func (g *Collector) count(bytes int) {
	if g.Repo.SharedStore != nil && !g.Opt.DryRun {
		return // results count actual removals: blocks that others put within a lease stay
	}
	g.Res.Blocks++
	g.Res.Bytes += int64(bytes)
	if g.Res.Blocks%core.ProgressEvery == 0 {
		g.Opt.Progress("garbage", g.Res.Blocks)
	}
}

func (g *Collector) keep(b store.Block) {
	g.Res.Kept++
	g.KeptBytes += int64(len(b.Data))
}

// isNamed reports whether users can name a block, or whether it holds such blocks together.
func isNamed(b store.Block) bool {
	if b.CID.Codec() != ipld.DagCBOR {
		return false
	}
	switch ipld.RecordKind(b.Data) {
	case state.RoleNodes.String(), state.RoleNode.String(), state.RoleEdge.String(), state.RoleMark.String(),
		state.RoleEmbedding.String(), state.RoleWritten.String():
		return false
	}
	return true
}

// sweep removes blocks in slices, between writers: a write completes while no slice is removed, and each slice
// begins by marking what was written since. The first step removes the blocks that can be named: after that, later
// writes cannot lead to garbage without writing it again.
func (g *Collector) sweep() error {
	if g.Opt.DryRun || len(g.Roots)+len(g.Rest) == 0 {
		return nil
	}
	slice := g.Roots
	for first := true; first || len(g.Rest) > 0; first = false {
		if !first {
			n := min(sweepSlice, len(g.Rest))
			slice, g.Rest = g.Rest[:n], g.Rest[n:]
		}
		if err := g.remove(slice); err != nil {
			return err
		}
		g.Opt.Progress("blocks left", len(g.Rest))
	}
	return nil
}

func (g *Collector) remove(slice []ipld.CID) error {
	_, err := g.Repo.TransactAnew(g.Ctx, func() (ipld.CID, error) { return ipld.CID{}, g.removeOnce(slice) })
	return err
}

func (g *Collector) removeOnce(slice []ipld.CID) error {
	if err := g.Repo.Writer.Lock(g.Ctx); err != nil {
		return err
	}
	defer g.Repo.Writer.Unlock()
	if err := g.Mark(); err != nil { // most of it, while others go on
		return err
	}
	return g.Repo.Keep.Remove(g.Marks.lease, func() error {
		var gone []ipld.CID
		for _, c := range slice {
			if !g.Marks.has(c) {
				gone = append(gone, c)
			}
		}
		return g.delete(g.facts, false, gone)
	})
}

// walker returns a callback for walking an index that appends to kept the blocks not yet known to stay: consecutive
// indexes share most.
func (g *Collector) walker(kept *[]ipld.CID) func(ipld.CID) error {
	*kept = []ipld.CID{}
	return func(c ipld.CID) error {
		if g.live.Has(c) {
			return segment.ErrSkipLinked
		}
		*kept = append(*kept, c)
		return nil
	}
}

// SweepDerived removes the indexes, communities and digests of graphs that are not kept.
func (g *Collector) SweepDerived() error {
	if g.Derived == nil {
		return nil
	}
	g.cells = make(map[ipld.CID]ipld.CID)
	if _, err := g.walkCells(true); err != nil { // most of them, while others go on
		return err
	}
	if err := g.Repo.Writer.Lock(g.Ctx); err != nil { // indexes are written with commits
		return err
	}
	defer g.Repo.Writer.Unlock()
	g.Repo.IndexMu.Lock() // and by retrievals
	defer g.Repo.IndexMu.Unlock()
	g.Repo.Merges.Stop() // its output would be collected as garbage
	g.Repo.Communities.Mu.Lock()
	defer g.Repo.Communities.Mu.Unlock()
	g.Repo.Digests.Mu.Lock()
	defer g.Repo.Digests.Mu.Unlock()
	if err := g.Mark(); err != nil {
		return err
	}
	cells, err := g.walkCells(false)
	if err != nil {
		return err
	}
	var blocks []ipld.CID
	err = g.Repo.Derived().Iterate(g.Ctx, ipld.CID{}, func(b store.Block) error {
		if g.live.Has(b.CID) {
			g.keep(b)
			return nil
		}
		blocks = append(blocks, b.CID)
		g.count(len(b.Data))
		return nil
	})
	if err != nil || g.Opt.DryRun {
		return err
	}
	defer g.Repo.SweepCount.Add(1)
	g.Repo.Indexes().Forget()
	g.Repo.Digests.Clear()
	if err := g.Derived.DeleteCells(g.Ctx, cells...); err != nil {
		return err
	}
	return g.delete(g.Derived, true, blocks)
}

// walkCells marks the blocks of the cells that stay as live, except cells walked before, and returns the other
// cells. Ahead of the locks, derived data may be dropped while it is walked: what cannot be read then is left to
// the walk under the locks.
func (g *Collector) walkCells(ahead bool) (gone []ipld.CID, err error) {
	err = g.Derived.Cells(g.Ctx, func(key, value ipld.CID) error {
		if g.cells[key] == value {
			return nil
		}
		kept, err := g.sweepCell(key, value)
		if err != nil && ahead && g.Ctx.Err() == nil {
			return nil
		}
		for _, c := range kept {
			g.live.Add(c)
		}
		if kept == nil {
			gone = append(gone, key)
		} else {
			g.cells[key] = value
		}
		return err
	})
	return gone, err
}

// sweepCell returns the blocks of a cell's target that are not yet known to stay, nil if the cell must go. Damaged
// indexes, except of texts, go and are rebuilt when needed.
func (g *Collector) sweepCell(key, value ipld.CID) (kept []ipld.CID, err error) {
	for _, k := range view.IndexKinds(g.Repo.Derived(), state.Fresh{}) {
		if kept, err = g.sweepIndex(k, key, value); kept != nil || err != nil {
			return kept, err
		}
	}
	if kept, err = g.sweepCommunities(key, value); kept != nil || err != nil {
		return kept, err
	}
	return g.sweepDigests(key, value)
}

// sweepIndex is sweepCell for the cells of one kind of index; it returns nil for others. Damaged indexes go, and
// are rebuilt when needed; those of texts stay, since only their key says what they belong to.
func (g *Collector) sweepIndex(k view.IndexKind, key, value ipld.CID) (kept []ipld.CID, err error) {
	derived := g.Repo.Derived()
	if k.Of == nil {
		if !g.Marks.Texts.Has(key) {
			return nil, nil
		}
		err = k.Walk(g.Ctx, derived, value, g.walker(&kept))
		return kept, err
	}
	m, err := k.Format.ReadManifest(g.Ctx, derived, value)
	if err == nil {
		of, facts := k.Of(m.Roots)
		for _, c := range facts {
			if of != key || !g.Marks.has(c) {
				return nil, nil
			}
		}
		err = k.Walk(g.Ctx, derived, value, g.walker(&kept))
	}
	if errors.Is(err, store.ErrCorrupt) {
		return nil, nil
	}
	return kept, err
}

// delete removes blocks that were unreachable when last marked.
func (g *Collector) delete(from store.Deleter, derived bool, gone []ipld.CID) error {
	if g.Repo.SharedStore == nil {
		return from.Delete(g.Ctx, gone...)
	}
	for len(gone) > 0 {
		n := min(sweepSlice, len(gone))
		blocks, size, err := g.Repo.SharedStore.Sweep(g.Ctx, g.at, derived, gone[:n]...)
		if err != nil {
			return err
		}
		g.Res.Blocks += blocks
		g.Res.Bytes += size
		gone = gone[n:]
	}
	return nil
}

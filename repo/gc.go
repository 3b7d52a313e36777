package repo

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/segment"
	"github.com/mnem-project/mnem/store"
)

const (
	// DefaultKeepOps is how many operations a collection keeps unless told otherwise.
	DefaultKeepOps = 10_000
	// sweepSlice is how many blocks are removed at once: writers wait for no more than one slice,
	// a few milliseconds.
	sweepSlice = 2048
)

// ErrUnsupported is returned where the store cannot do what is asked for.
var ErrUnsupported = errors.New("not supported by the store")

// GCOptions says what a collection keeps.
type GCOptions struct {
	Stamp
	// KeepOps is how many of the newest operations are kept, at least 1; 0 means DefaultKeepOps.
	KeepOps int
	// Grace keeps what was there at any moment since this long before now as well: operations that
	// are not older, and the one before these. Now is that of Options.Now, and never Stamp.Time where
	// there is a clock.
	Grace time.Duration
	// DryRun counts what would be removed and removes nothing.
	DryRun bool
	// NoWait removes nothing where an export, an import, a check or a collection is under way.
	NoWait bool
	// Progress, where given, is called now and then on the calling goroutine.
	Progress func(what string, done int)
}

// GCResult tells what a collection removed, or would remove.
type GCResult struct {
	Blocks  int    // facts and derived blocks
	Bytes   int64  // of these
	Kept    int    // blocks that stay
	Horizon uint64 // the oldest operation that is kept
	// MustFree is how many bytes must be freed on the disk before what was removed gives back its room;
	// 0 for none.
	MustFree uint64
}

// GC removes what nothing leads to: not the refs as any kept operation left them, not a Lease or a
// Snapshot in use. Operations that are not kept fall behind a horizon, which is recorded as an
// operation where it moves, and the op log ends there. Indexes of graphs that are not kept go too.
// Others may read and write meanwhile: what they write stays, and they wait for one slice of
// removals at most; imports, exports and Fsck wait for the removals, or GC for them. It returns an
// error wrapping store.ErrCorrupt where it meets damage, as what a damaged block leads to cannot be
// known, and then removes nothing. Where much was removed the store is rewritten without it, so that
// its room on disk is given back. It keeps some 30 bytes in memory for each block that stays, 40 for each
// that goes, and 50 for each that is found and not read yet. It reads all facts once, in the order of the
// store, and garbage once more, but twice where there is some that no operation ever led to, or something is
// written meanwhile, or damaged.
func (r *Repo) GC(ctx context.Context, opt GCOptions) (*GCResult, error) {
	if r.ro && !opt.DryRun {
		return nil, store.ErrReadOnly
	}
	if opt.KeepOps < 0 || opt.Grace < 0 {
		return nil, invalidf("gc: a negative number of operations, or grace")
	}
	if opt.KeepOps == 0 {
		opt.KeepOps = DefaultKeepOps
	}
	if r.shared != nil { // what others read since is among what these operations lead to
		opt.Grace = max(opt.Grace, r.shared.Lease())
	}
	if opt.Progress == nil {
		opt.Progress = func(string, int) {}
	}
	plain := ctx
	if !opt.DryRun && !opt.NoWait {
		ctx = store.Erasing(ctx) // it makes room, and was asked for
	}
	g := &collector{ctx: ctx, plain: plain, repo: r, opt: opt, res: &GCResult{}}
	var ok, okCells bool
	g.facts, ok = r.store.Facts().(store.Deleter)
	g.derived, okCells = r.store.Derived().(derivedDeleter)
	if !opt.DryRun && (!ok || !okCells) {
		return nil, fmt.Errorf("gc: %w", ErrUnsupported)
	}
	asked := r.collected.begun.Load()
	if !opt.NoWait {
		if err := r.collecting.take(ctx); err != nil {
			return nil, fmt.Errorf("gc: %w", err)
		}
	} else if !r.collecting.try() {
		return g.res, nil
	}
	defer r.collecting.give()
	if last := r.collected.last; last.number > asked && last.like(opt) {
		return &last.res, nil
	}
	number := r.collected.begun.Add(1)
	var err error
	if !opt.DryRun && !opt.NoWait {
		err = r.finishHalf(ctx)
	}
	if err == nil {
		err = g.run()
	}
	if err == nil {
		err = g.reclaim()
	}
	if err == nil && !opt.DryRun {
		err = r.expelPending(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("gc: %w", err)
	}
	if !opt.DryRun {
		r.collected.last = collection{number, opt.KeepOps, opt.Grace, *g.res}
	}
	return g.res, nil
}

// collected remembers the last collection that ended well. Of several that wait for one under way, the
// first does what the others are for.
type collected struct {
	begun atomic.Int64 // how many began so far
	last  collection   // guarded by Repo.collecting
}

// collection is one that ended well.
type collection struct {
	number  int64 // from 1
	keepOps int
	grace   time.Duration
	res     GCResult
}

func (c *collection) like(opt GCOptions) bool {
	return !opt.DryRun && opt.KeepOps == c.keepOps && opt.Grace == c.grace
}

// reclaimShare is how much must have been removed for the store to be rewritten: a part of what
// stays, so that rewriting costs no more than a few times what it gives back.
const reclaimShare = 4

// reclaim makes what was removed leave the disk, where it is much. Nobody waits for it.
func (g *collector) reclaim() error {
	st, ok := g.repo.store.(store.Reclaimer)
	if !ok || g.opt.DryRun {
		return nil
	}
	much := g.res.Bytes > 0 && g.res.Bytes >= g.keptBytes/reclaimShare
	if !much && !g.short() {
		return nil
	}
	g.opt.Progress("give back room", 0)
	err := st.Reclaim(g.ctx)
	if !errors.Is(err, store.ErrNoRoom) {
		return err
	}
	// What is gone takes room until there is some: the store compacts itself as it is written.
	g.res.MustFree = shortageOf(err).bytes
	return nil
}

// short reports whether a collection that was asked for runs on a disk that has no room for other
// changes: an earlier one may have found no room to give back.
func (g *collector) short() bool {
	st, ok := g.repo.store.(store.Roomer)
	return ok && !g.opt.NoWait && errors.Is(st.Room(g.plain), store.ErrNoRoom)
}

// derivedDeleter is what a collection asks of what is derived.
type derivedDeleter interface {
	store.Deleter
	store.CellDeleter
}

// collector is one collection.
type collector struct {
	ctx     context.Context
	plain   context.Context // ctx without the right to what is kept for changes that erase
	repo    *Repo
	opt     GCOptions
	res     *GCResult
	facts   store.Deleter
	derived derivedDeleter

	at    store.Head // when it was marked last
	moves bool       // whether operations fall behind the horizon
	was   uint64     // the horizon before
	marks *marker
	live  cidSet // derived blocks of indexes that stay
	// cells are those of indexes that stay, and the block that each named when it was walked.
	cells map[ipld.CID]ipld.CID
	// keptBytes is the size of the blocks that stay.
	keptBytes int64

	roots []ipld.CID // blocks to remove that a name could lead to, which go first
	rest  []ipld.CID // other blocks to remove
}

func (g *collector) run() error {
	if err := g.moveHorizon(); err != nil {
		return err
	}
	g.marks = newMarker(g.ctx, g.repo, g.opt.Progress)
	known, err := g.readAll()
	if err != nil {
		return err
	}
	if !known {
		if err := g.mark(); err != nil {
			return err
		}
	}
	if !g.opt.DryRun {
		if ok, err := g.repo.keep.stop(g.ctx, !g.opt.NoWait); err != nil || !ok {
			return err
		}
		defer g.repo.keep.still.Unlock()
	}
	if !known {
		if err := g.list(); err != nil {
			return err
		}
	}
	if err := g.sweep(); err != nil {
		return err
	}
	kept, bytes := g.res.Kept, g.keptBytes
	_, err = g.repo.transactAnew(g.ctx, func() (ipld.CID, error) {
		g.res.Kept, g.keptBytes = kept, bytes
		return ipld.CID{}, g.sweepDerived()
	})
	return err
}

// moveHorizon finds the oldest operation to keep and, but for a dry run, records it.
func (g *collector) moveHorizon() error {
	head, err := g.repo.store.Head(g.ctx)
	if err != nil {
		return fmt.Errorf("read operation head: %w", err)
	}
	if g.res.Horizon, err = g.oldest(head); err != nil {
		return err
	}
	newest, err := commit.ReadOperation(g.ctx, g.repo.facts(), head.Operation)
	if err != nil {
		return err
	}
	g.was = newest.Horizon
	g.moves = g.res.Horizon > max(g.was, 1)
	if g.opt.DryRun || !g.moves {
		return nil
	}
	_, err = g.repo.transact(g.ctx, g.opt.Stamp, func(t *tx) error {
		t.horizon = g.res.Horizon
		return nil
	})
	return err
}

// mark marks what the refs, the kept operations and the leases lead to now. It may be called again
// to mark what has come since.
func (g *collector) mark() error {
	head, err := g.repo.store.Head(g.ctx)
	if err != nil {
		return fmt.Errorf("read operation head: %w", err)
	}
	if err := g.marks.operations(head.Operation, g.res.Horizon); err != nil {
		return err
	}
	g.at = head
	kept := g.repo.keep.leased()
	if g.repo.shared != nil {
		others, err := g.repo.shared.Kept(g.ctx)
		if err != nil {
			return err
		}
		kept = append(kept, others...)
	}
	for _, c := range kept {
		if err := g.marks.lease(c); err != nil {
			return err
		}
	}
	return nil
}

// list finds the blocks to remove.
func (g *collector) list() error {
	return g.repo.store.Facts().Iterate(g.ctx, ipld.CID{}, func(b store.Block) error {
		if g.marks.has(b.CID) {
			g.keep(b)
		} else {
			g.goes(b.CID, isNamed(b), len(b.Data))
		}
		return nil
	})
}

// goes notes a block to remove.
func (g *collector) goes(c ipld.CID, named bool, bytes int) {
	if named {
		g.roots = append(g.roots, c)
	} else {
		g.rest = append(g.rest, c)
	}
	g.count(bytes)
}

func (g *collector) count(bytes int) {
	if g.repo.shared != nil && !g.opt.DryRun {
		return // what is removed counts: what others put within a lease stays
	}
	g.res.Blocks++
	g.res.Bytes += int64(bytes)
	if g.res.Blocks%progressEvery == 0 {
		g.opt.Progress("garbage", g.res.Blocks)
	}
}

func (g *collector) keep(b store.Block) {
	g.res.Kept++
	g.keptBytes += int64(len(b.Data))
}

// isNamed reports whether a block is one that a user can name, or that holds such together.
func isNamed(b store.Block) bool {
	if b.CID.Codec() != ipld.DagCBOR {
		return false
	}
	switch ipld.RecordKind(b.Data) {
	case roleNodes.String(), roleNode.String(), roleEdge.String(), roleMark.String(),
		roleEmbedding.String(), roleWritten.String():
		return false
	}
	return true
}

// sweep removes blocks in slices, between writers: whoever writes does so as a whole while no slice
// is removed, and each slice begins by marking what was written since. First, in one step, go the
// blocks that can be named: then nothing that is written later can come to lead to garbage but by
// writing it anew.
func (g *collector) sweep() error {
	if g.opt.DryRun || len(g.roots)+len(g.rest) == 0 {
		return nil
	}
	slice := g.roots
	for first := true; first || len(g.rest) > 0; first = false {
		if !first {
			n := min(sweepSlice, len(g.rest))
			slice, g.rest = g.rest[:n], g.rest[n:]
		}
		if err := g.remove(slice); err != nil {
			return err
		}
		g.opt.Progress("blocks left", len(g.rest))
	}
	return nil
}

func (g *collector) remove(slice []ipld.CID) error {
	_, err := g.repo.transactAnew(g.ctx, func() (ipld.CID, error) { return ipld.CID{}, g.removeOnce(slice) })
	return err
}

func (g *collector) removeOnce(slice []ipld.CID) error {
	if err := g.repo.writer.Lock(g.ctx); err != nil {
		return err
	}
	defer g.repo.writer.Unlock()
	if err := g.mark(); err != nil { // most of it, while others go on
		return err
	}
	return g.repo.keep.remove(g.marks.lease, func() error {
		var gone []ipld.CID
		for _, c := range slice {
			if !g.marks.has(c) {
				gone = append(gone, c)
			}
		}
		return g.delete(g.facts, false, gone)
	})
}

// walker returns a function for walking an index that appends the blocks to kept which are not known to
// stay: indexes that follow each other share most.
func (g *collector) walker(kept *[]ipld.CID) func(ipld.CID) error {
	*kept = []ipld.CID{}
	return func(c ipld.CID) error {
		if g.live.Has(c) {
			return segment.ErrSkipLinked
		}
		*kept = append(*kept, c)
		return nil
	}
}

// sweepDerived removes the indexes, communities and digests of graphs that are not kept.
func (g *collector) sweepDerived() error {
	if g.derived == nil {
		return nil
	}
	g.cells = make(map[ipld.CID]ipld.CID)
	if _, err := g.walkCells(true); err != nil { // most of them, while others go on
		return err
	}
	if err := g.repo.writer.Lock(g.ctx); err != nil { // indexes are written with commits
		return err
	}
	defer g.repo.writer.Unlock()
	g.repo.indexMu.Lock() // and by retrievals
	defer g.repo.indexMu.Unlock()
	g.repo.merges.stop() // what it writes would be taken for garbage
	g.repo.communities.mu.Lock()
	defer g.repo.communities.mu.Unlock()
	g.repo.digests.mu.Lock()
	defer g.repo.digests.mu.Unlock()
	if err := g.mark(); err != nil {
		return err
	}
	cells, err := g.walkCells(false)
	if err != nil {
		return err
	}
	var blocks []ipld.CID
	err = g.repo.derived().Iterate(g.ctx, ipld.CID{}, func(b store.Block) error {
		if g.live.Has(b.CID) {
			g.keep(b)
			return nil
		}
		blocks = append(blocks, b.CID)
		g.count(len(b.Data))
		return nil
	})
	if err != nil || g.opt.DryRun {
		return err
	}
	defer g.repo.sweeps.Add(1)
	g.repo.forgetIndexes()
	g.repo.digests.forget()
	if err := g.derived.DeleteCells(g.ctx, cells...); err != nil {
		return err
	}
	return g.delete(g.derived, true, blocks)
}

// walkCells makes live what the cells that stay lead to, but for those that it walked before, and
// returns the others. Ahead of the locks what is derived may be dropped while it is walked: what cannot be
// read then is left to the walk under them.
func (g *collector) walkCells(ahead bool) (gone []ipld.CID, err error) {
	err = g.derived.Cells(g.ctx, func(key, value ipld.CID) error {
		if g.cells[key] == value {
			return nil
		}
		kept, err := g.sweepCell(key, value)
		if err != nil && ahead && g.ctx.Err() == nil {
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

// sweepCell returns the blocks of what a cell names that are not known to stay, nil where the cell is to
// go. Damaged indexes of anything but texts go, and are made anew when they are needed.
func (g *collector) sweepCell(key, value ipld.CID) (kept []ipld.CID, err error) {
	for _, k := range indexKinds(g.repo.derived(), fresh{}) {
		if kept, err = g.sweepIndex(k, key, value); kept != nil || err != nil {
			return kept, err
		}
	}
	if kept, err = g.sweepCommunities(key, value); kept != nil || err != nil {
		return kept, err
	}
	return g.sweepDigests(key, value)
}

// sweepIndex is sweepCell for the cells of a kind of indexes; it returns nil for others. Damaged indexes
// go, and are made anew when they are needed; those of texts stay, which only tell by their key what
// they are of.
func (g *collector) sweepIndex(k indexKind, key, value ipld.CID) (kept []ipld.CID, err error) {
	derived := g.repo.derived()
	if k.of == nil {
		if !g.marks.texts.Has(key) {
			return nil, nil
		}
		err = k.walk(g.ctx, derived, value, g.walker(&kept))
		return kept, err
	}
	m, err := k.format.ReadManifest(g.ctx, derived, value)
	if err == nil {
		of, facts := k.of(m.Roots)
		for _, c := range facts {
			if of != key || !g.marks.has(c) {
				return nil, nil
			}
		}
		err = k.walk(g.ctx, derived, value, g.walker(&kept))
	}
	if errors.Is(err, store.ErrCorrupt) {
		return nil, nil
	}
	return kept, err
}

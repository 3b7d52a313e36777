package commit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/internal/base/heap"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// LogEntry is one commit of a history.
type LogEntry struct {
	CID    ipld.CID
	Commit *Commit
}

// History returns the commits reachable from the given ones, inclusive, each once: newest first, by time and then
// CID, but never a parent before a child, whatever their clocks said. It reads little more than it yields. After an
// error, which comes with the zero LogEntry, it ends.
func History(ctx context.Context, g store.Getter, from ...ipld.CID) iter.Seq2[LogEntry, error] {
	return Between(ctx, g, from, nil)
}

// Between returns the commits reachable from some commits but not from any of others, in the order and manner of
// History.
func Between(ctx context.Context, g store.Getter, from, until []ipld.CID) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		w := newWalk(ctx, g)
		if err := w.start(from, until); err != nil {
			yield(LogEntry{}, err)
			return
		}
		for len(w.ready) > 0 && w.wanted > 0 {
			v, err := w.next()
			if err != nil {
				yield(LogEntry{}, err)
				return
			}
			if v == nil {
				continue
			}
			if !v.excluded && !yield(LogEntry{v.cid, v.commit}, nil) {
				return
			}
			if err := w.release(v); err != nil {
				yield(LogEntry{}, err)
				return
			}
		}
	}
}

// A visit is one commit that the walk has read but not yielded.
type visit struct {
	cid     ipld.CID
	commit  *Commit
	parents []*visit // once explored
	// children is the number of explored, unyielded commits that have this as a parent.
	children int
	explored bool
	queued   bool // in ready
	// excluded: reachable from a commit where the walk ends. Final once everything higher is explored.
	excluded bool
}

// A walk yields a commit when it has no unyielded child. It knows all children once everything higher has been
// explored, since children are higher than parents.
type walk struct {
	ctx     context.Context
	g       store.Getter
	open    map[ipld.CID]*visit
	ready   []*visit // heap by newer: commits that had no child when they were put here
	explore []*visit // heap by higher: commits whose parents have not been read
	wanted  int      // open commits that are not excluded
}

func newWalk(ctx context.Context, g store.Getter) *walk {
	return &walk{ctx: ctx, g: g, open: make(map[ipld.CID]*visit)}
}

// start queues the commits to walk from and those to stop at as ready.
func (w *walk) start(from, until []ipld.CID) error {
	for i, c := range slices.Concat(from, until) {
		v, err := w.visit(c)
		if err != nil {
			return err
		}
		if i >= len(from) {
			w.exclude(v)
		}
	}
	for _, v := range w.open {
		w.queue(v)
	}
	return nil
}

func (w *walk) exclude(v *visit) {
	if !v.excluded {
		v.excluded = true
		w.wanted--
	}
}

// visit reads a commit, once.
func (w *walk) visit(c ipld.CID) (*visit, error) {
	if v, ok := w.open[c]; ok {
		return v, nil
	}
	record, err := ReadCommit(w.ctx, w.g, c)
	if err != nil {
		return nil, err
	}
	v := &visit{cid: c, commit: record}
	w.open[c] = v
	w.wanted++
	heap.Push(&w.explore, v, higher)
	return v, nil
}

// next takes the newest ready commit and returns it, or nil if it turned out to have a child that must come first.
func (w *walk) next() (*visit, error) {
	v := heap.Pop(&w.ready, newer)
	v.queued = false
	for len(w.explore) > 0 && w.explore[0].commit.Height > v.commit.Height {
		if err := w.expand(heap.Pop(&w.explore, higher)); err != nil {
			return nil, err
		}
	}
	if v.children > 0 {
		return nil, nil
	}
	return v, nil
}

// expand reads the parents of v, once.
func (w *walk) expand(v *visit) error {
	if v.explored {
		return nil
	}
	v.explored = true
	height := uint64(0)
	for _, c := range v.commit.Parents {
		p, err := w.visit(c)
		if err != nil {
			return err
		}
		height = max(height, p.commit.Height)
		p.children++
		if v.excluded {
			w.exclude(p)
		}
		v.parents = append(v.parents, p)
	}
	if height+1 != v.commit.Height {
		return fmt.Errorf("read commit %s: %w: height %d over parents of height %d",
			v.cid, ipld.ErrInvalid, v.commit.Height, height)
	}
	return nil
}

// release makes the parents of a yielded commit ready if it was their last child. No later commit leads to the
// yielded one, so it is forgotten: memory is proportional to the width of the history.
func (w *walk) release(v *visit) error {
	if err := w.expand(v); err != nil {
		return err
	}
	delete(w.open, v.cid)
	if !v.excluded {
		w.wanted--
	}
	for _, p := range v.parents {
		if p.children--; p.children == 0 {
			w.queue(p)
		}
	}
	return nil
}

func (w *walk) queue(v *visit) {
	if !v.queued {
		v.queued = true
		heap.Push(&w.ready, v, newer)
	}
}

// newer is the order of a log.
func newer(a, b *visit) bool {
	byTime := cmp.Compare(b.commit.Time, a.commit.Time)
	return cmp.Or(byTime, a.cid.Compare(b.cid)) < 0
}

func higher(a, b *visit) bool { return a.commit.Height > b.commit.Height }

// IsAncestor reports whether c is ancestor or reaches it through parents. It reads no commit below the ancestor's
// height.
func IsAncestor(ctx context.Context, g store.Getter, ancestor, c ipld.CID) (bool, error) {
	if ancestor == c {
		return true, nil
	}
	w := newWalk(ctx, g)
	target, err := w.visit(ancestor)
	if err != nil {
		return false, err
	}
	if _, err := w.visit(c); err != nil {
		return false, err
	}
	for w.explore[0].commit.Height > target.commit.Height && target.children == 0 {
		if err := w.expand(heap.Pop(&w.explore, higher)); err != nil {
			return false, err
		}
	}
	return target.children > 0, nil
}

// Flags of a commit in a walk from two sides.
const (
	fromLeft = 1 << iota
	fromRight
	belowBase
	fromBoth = fromLeft | fromRight
)

// MergeBases returns the best common ancestors of two commits, in CID order: the commits that both reach, each
// commit counting as its own ancestor, except those that another one of them reaches. Unrelated histories have
// none; criss-cross merges have more than one.
func MergeBases(ctx context.Context, g store.Getter, left, right ipld.CID) ([]ipld.CID, error) {
	p := painter{walk: newWalk(ctx, g), paint: make(map[*visit]uint8)}
	for _, side := range []struct {
		c    ipld.CID
		mark uint8
	}{{left, fromLeft}, {right, fromRight}} {
		v, err := p.visit(side.c)
		if err != nil {
			return nil, err
		}
		p.mark(v, side.mark)
	}
	var bases []ipld.CID
	// From high to low every commit is met after all its children, so its flags are complete.
	for p.live > 0 {
		v := heap.Pop(&p.explore, higher)
		marks := p.paint[v]
		if marks&belowBase == 0 {
			p.live--
			if marks == fromBoth {
				bases = append(bases, v.cid)
				marks |= belowBase
			}
		}
		if err := p.expand(v); err != nil {
			return nil, err
		}
		for _, parent := range v.parents {
			p.mark(parent, marks)
		}
	}
	slices.SortFunc(bases, ipld.CID.Compare)
	return bases, nil
}

// A painter walks from two commits and counts the commits still to explore that are not known to be below a base.
type painter struct {
	*walk
	paint map[*visit]uint8
	live  int
}

func (p *painter) mark(v *visit, marks uint8) {
	old, seen := p.paint[v]
	if !seen {
		p.live++
	}
	p.paint[v] = old | marks
	if old&belowBase == 0 && marks&belowBase != 0 {
		p.live--
	}
}

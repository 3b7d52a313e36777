package commit

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/internal/base/heap"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

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

// A painter walks from two commits and counts the commits still to explore that are not known to
// be below a base.
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

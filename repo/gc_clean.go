package repo

import (
	"errors"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// maxLoose is how many blocks may have been written while it was looked for garbage.
const maxLoose = 10_000

var errDoubt = errors.New("something may be garbage")

// clean reports whether no fact is garbage, which is the rule where no operation falls behind the
// horizon. It reads the blocks in the order of the store, which costs a fraction of following links,
// and marks what any of them leads to, operations apart, of which the log tells. Links by hash form no
// circle, so if there were garbage, nothing would lead to some of it. Where there is such a block, or
// damage, it forgets what it found, and links must be followed from the operations.
func (g *collector) clean() (bool, error) {
	err := g.repo.store.Facts().Iterate(g.ctx, ipld.CID{}, g.markNext)
	if err == nil {
		err = g.mark()
	}
	if err == nil {
		err = g.allMarked()
	}
	if !errors.Is(err, errDoubt) {
		return err == nil, err
	}
	g.res.Kept, g.keptBytes = 0, 0
	g.marks = newMarker(g.ctx, g.repo, g.opt.Progress)
	return false, nil
}

// markNext marks what a block leads to.
func (g *collector) markNext(b store.Block) error {
	if b.Verify() != nil {
		return errDoubt
	}
	if b.CID.Codec() != ipld.DagCBOR || ipld.PeekKind(b.Data) == commit.KindOperation {
		return nil
	}
	next, err := g.marks.read(lead{b.CID, roleAny}, b.Data, nil)
	if err != nil {
		return errDoubt
	}
	for _, l := range next {
		g.marks.add(l.cid)
	}
	return nil
}

// allMarked returns errDoubt unless the blocks that are stored are those that are marked, but for
// erased ones and those that are being written.
func (g *collector) allMarked() error {
	var loose []ipld.CID
	marked := g.marks.marked.Len()
	err := g.repo.store.Facts().Iterate(g.ctx, ipld.CID{}, func(b store.Block) error {
		if g.keep(b); !g.marks.has(b.CID) {
			loose = append(loose, b.CID)
		}
		if len(loose) > maxLoose {
			return errDoubt
		}
		return nil
	})
	if err != nil {
		return err
	}
	marked -= g.res.Kept - len(loose)
	if e, ok := g.repo.store.(store.Eraser); ok {
		err = e.Redactions(g.ctx, func(r store.Redaction) error {
			if g.marks.has(r.CID) {
				marked--
			}
			return nil
		})
	}
	if err == nil && marked != 0 { // what is marked, not stored and not erased is missing
		err = errDoubt
	}
	if err != nil || len(loose) == 0 {
		return err
	}
	if err := g.repo.writer.Lock(g.ctx); err != nil {
		return err
	}
	defer g.repo.writer.Unlock()
	if err := g.mark(); err != nil {
		return err
	}
	for _, c := range loose {
		if !g.marks.has(c) {
			return errDoubt
		}
	}
	return nil
}

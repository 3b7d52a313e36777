package repo

import (
	"errors"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/parallel"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// maxLoose is how many blocks may have been written while it was looked for garbage.
const maxLoose = 10_000

var errDoubt = errors.New("something may be garbage")

// readAll reports whether it knows what is garbage. It reads the blocks once in the order of the store, which
// costs a fraction of following links, and counts by how many others each is led to, operations apart, of
// which the log tells. Links by hash form no circle, so that of what is garbage nothing leads to some of it,
// and the rest is what only that leads to. Whether the blocks that are known so are those that are stored
// is told by their numbers and sums of hashes. Where it is not so, since something was written meanwhile,
// or is damaged, it forgets what it found, and links must be followed from the operations.
func (g *collector) readAll() (bool, error) {
	stored, err := g.markStored()
	if err == nil {
		err = g.mark()
	}
	if err == nil {
		err = g.fall(stored)
	}
	if errors.Is(err, errDoubt) && !g.moves {
		err = g.allMarked()
	}
	if err == nil {
		g.graphTexts(stored.graphs)
	}
	if !errors.Is(err, errDoubt) {
		return err == nil, err
	}
	g.res.Kept, g.keptBytes = 0, 0
	g.marks = newMarker(g.ctx, g.repo, g.opt.Progress)
	return false, nil
}

// graphTexts adds the cells of the indexes of texts of the graphs that stay.
func (g *collector) graphTexts(graphs []ipld.CID) {
	for _, c := range graphs {
		if g.marks.has(c) {
			g.marks.texts.Add(textsKey(c))
		}
	}
}

// storedRead is what was found in blocks that follow each other.
type storedRead struct {
	blocks int
	bytes  int64
	sum    uint64 // of the hashes of the blocks
	next   []lead
	graphs []ipld.CID
	logged []logged // operations
	doubt  bool     // whether there is damage
}

// markStored counts what blocks lead to, and returns what was found of all but for that.
func (g *collector) markStored() (all storedRead, err error) {
	var failed error
	batches := inBatches(func(each func(store.Block, bool) error) error {
		return g.repo.store.Facts().Iterate(g.ctx, ipld.CID{}, func(b store.Block) error { return each(b, false) })
	}, &failed)
	for found := range parallel.Map(batches, batchLimit, g.readStored) {
		if found.doubt {
			return all, errDoubt
		}
		g.res.Kept += found.blocks
		g.keptBytes += found.bytes
		all.sum += found.sum
		all.graphs = append(all.graphs, found.graphs...)
		all.logged = append(all.logged, found.logged...)
		for _, l := range found.next {
			g.marks.more(l.cid)
		}
	}
	return all, failed
}

func (g *collector) readStored(read blockBatch) (out storedRead) {
	for _, b := range read.blocks {
		out.blocks++
		out.bytes += int64(len(b.Data))
		out.sum += g.marks.hash(b.CID)
		if b.Verify() != nil {
			return storedRead{doubt: true}
		}
		if b.CID.Codec() != ipld.DagCBOR {
			continue
		}
		if ipld.PeekKind(b.Data) == commit.KindOperation {
			o, err := commit.DecodeOperation(b.Data)
			if err != nil {
				return storedRead{doubt: true}
			}
			out.logged = append(out.logged, logged{b.CID, o.View, o.Seq, len(b.Data)})
			continue
		}
		next, text, err := readLeads(lead{b.CID, roleAny}, b.Data, nil)
		if err != nil {
			return storedRead{doubt: true}
		}
		out.next = append(out.next, next...)
		if text.Defined() {
			out.graphs = append(out.graphs, b.CID)
		}
	}
	return out
}

// beside returns how many of so many blocks, by the sum of their hashes, are not among those that are marked
// and not erased, and the sum of theirs.
func (g *collector) beside(blocks int, hashes uint64) (n int, sum uint64, err error) {
	n, sum = blocks-g.marks.n, hashes-g.marks.sum
	err = g.eachErased(func(c ipld.CID) {
		n++
		sum += g.marks.hash(c)
	})
	return n, sum, err
}

// eachErased calls fn with each block that is marked and was erased.
func (g *collector) eachErased(fn func(ipld.CID)) error {
	e, ok := g.repo.store.(store.Eraser)
	if !ok {
		return nil
	}
	return e.Redactions(g.ctx, func(r store.Redaction) error {
		if g.marks.has(r.CID) {
			fn(r.CID)
		}
		return nil
	})
}

// allMarked returns errDoubt unless the blocks that are stored are those that are marked, but for
// erased ones and those that are being written.
func (g *collector) allMarked() error {
	var loose []ipld.CID
	marked := g.marks.n
	g.res.Kept, g.keptBytes = 0, 0
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
	err = g.eachErased(func(ipld.CID) { marked-- })
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

package care

import (
	"errors"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// maxLoose is how many blocks may have been written while it was looked for garbage.
const maxLoose = 10_000

var errDoubt = errors.New("something may be garbage")

// ReadAll reports whether it knows what is garbage. It reads the blocks once in the order of the store, which
// costs a fraction of following links, and counts by how many others each is led to, operations apart, of
// which the log tells. Links by hash form no circle, so that of what is garbage nothing leads to some of it,
// and the rest is what only that leads to. Whether the blocks that are known so are those that are stored
// is told by their numbers and sums of hashes. Where it is not so, since something was written meanwhile,
// or is damaged, it forgets what it found, and links must be followed from the operations.
func (g *Collector) ReadAll() (bool, error) {
	stored, err := g.markStored()
	if err == nil {
		err = g.Mark()
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
	g.Res.Kept, g.KeptBytes = 0, 0
	g.Marks = NewMarker(g.Ctx, g.Repo, g.Opt.Progress)
	return false, nil
}

// graphTexts adds the cells of the indexes of texts of the graphs that stay.
func (g *Collector) graphTexts(graphs []ipld.CID) {
	for _, c := range graphs {
		if g.Marks.has(c) {
			g.Marks.Texts.Add(view.TextsKey(c))
		}
	}
}

// storedRead is what was found in blocks that follow each other.
type storedRead struct {
	blocks int
	bytes  int64
	sum    uint64 // of the hashes of the blocks
	next   []state.Lead
	graphs []ipld.CID
	logged []logged // operations
	doubt  bool     // whether there is damage
}

// markStored counts what blocks lead to, and returns what was found of all but for that.
func (g *Collector) markStored() (all storedRead, err error) {
	var failed error
	batches := inBatches(func(each func(store.Block, bool) error) error {
		return g.Repo.Store.Facts().Iterate(g.Ctx, ipld.CID{}, func(b store.Block) error { return each(b, false) })
	}, &failed)
	for found := range parallel.Map(batches, batchLimit, g.readStored) {
		if found.doubt {
			return all, errDoubt
		}
		g.Res.Kept += found.blocks
		g.KeptBytes += found.bytes
		all.sum += found.sum
		all.graphs = append(all.graphs, found.graphs...)
		all.logged = append(all.logged, found.logged...)
		for _, l := range found.next {
			g.Marks.more(l.Cid)
		}
	}
	return all, failed
}

func (g *Collector) readStored(read blockBatch) (out storedRead) {
	for _, b := range read.blocks {
		out.blocks++
		out.bytes += int64(len(b.Data))
		out.sum += g.Marks.hash(b.CID)
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
		next, text, err := readLeads(state.Lead{Cid: b.CID, As: roleAny}, b.Data, nil)
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
func (g *Collector) beside(blocks int, hashes uint64) (n int, sum uint64, err error) {
	n, sum = blocks-g.Marks.n, hashes-g.Marks.sum
	err = g.eachErased(func(c ipld.CID) {
		n++
		sum += g.Marks.hash(c)
	})
	return n, sum, err
}

// eachErased calls fn with each block that is marked and was erased.
func (g *Collector) eachErased(fn func(ipld.CID)) error {
	e, ok := g.Repo.Store.(store.Eraser)
	if !ok {
		return nil
	}
	return e.Redactions(g.Ctx, func(r store.Redaction) error {
		if g.Marks.has(r.CID) {
			fn(r.CID)
		}
		return nil
	})
}

// allMarked returns errDoubt unless the blocks that are stored are those that are marked, but for
// erased ones and those that are being written.
func (g *Collector) allMarked() error {
	var loose []ipld.CID
	marked := g.Marks.n
	g.Res.Kept, g.KeptBytes = 0, 0
	err := g.Repo.Store.Facts().Iterate(g.Ctx, ipld.CID{}, func(b store.Block) error {
		if g.keep(b); !g.Marks.has(b.CID) {
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
	marked -= g.Res.Kept - len(loose)
	err = g.eachErased(func(ipld.CID) { marked-- })
	if err == nil && marked != 0 { // what is marked, not stored and not erased is missing
		err = errDoubt
	}
	if err != nil || len(loose) == 0 {
		return err
	}
	if err := g.Repo.Writer.Lock(g.Ctx); err != nil {
		return err
	}
	defer g.Repo.Writer.Unlock()
	if err := g.Mark(); err != nil {
		return err
	}
	for _, c := range loose {
		if !g.Marks.has(c) {
			return errDoubt
		}
	}
	return nil
}

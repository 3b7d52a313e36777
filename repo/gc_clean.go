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

// clean reports whether no fact is garbage, which is the rule where no operation falls behind the
// horizon. It reads the blocks once in the order of the store, which costs a fraction of following links,
// and marks what any of them leads to, operations apart, of which the log tells. Links by hash form no
// circle, so if there were garbage, nothing would lead to some of it. Whether the blocks that are marked are
// those that are stored is told by their numbers and sums of hashes, and where it is not so, by looking at
// each again. Where there is garbage, or damage, it forgets what it found, and links must be followed from
// the operations.
func (g *collector) clean() (bool, error) {
	stored, err := g.markStored()
	if err == nil {
		err = g.mark()
	}
	if err == nil {
		var same bool
		if same, err = g.sameAs(stored); err == nil && !same {
			err = g.allMarked()
		}
	}
	if !errors.Is(err, errDoubt) {
		return err == nil, err
	}
	g.res.Kept, g.keptBytes = 0, 0
	g.marks = newMarker(g.ctx, g.repo, g.opt.Progress)
	return false, nil
}

// storedRead is what was found in blocks that follow each other.
type storedRead struct {
	blocks int
	bytes  int64
	sum    uint64 // of the hashes of the blocks
	next   []lead
	texts  []ipld.CID // cells
	doubt  bool       // whether there is damage
}

// markStored marks what any block leads to, and returns the sum of the hashes of all.
func (g *collector) markStored() (sum uint64, err error) {
	var failed error
	batches := inBatches(g.ctx, g.repo.store.Facts(), func() {}, &failed)
	for found := range parallel.Map(batches, batchLimit, g.readStored) {
		if found.doubt {
			return 0, errDoubt
		}
		g.res.Kept += found.blocks
		g.keptBytes += found.bytes
		sum += found.sum
		g.marks.addTexts(found.texts)
		for _, l := range found.next {
			g.marks.add(l.cid)
		}
	}
	return sum, failed
}

func (g *collector) readStored(blocks []store.Block) (out storedRead) {
	for _, b := range blocks {
		out.blocks++
		out.bytes += int64(len(b.Data))
		out.sum += g.marks.hash(b.CID)
		if b.Verify() != nil {
			return storedRead{doubt: true}
		}
		if b.CID.Codec() != ipld.DagCBOR || ipld.PeekKind(b.Data) == commit.KindOperation {
			continue
		}
		next, text, err := readLeads(lead{b.CID, roleAny}, b.Data, nil)
		if err != nil {
			return storedRead{doubt: true}
		}
		out.next = append(out.next, next...)
		if text.Defined() {
			out.texts = append(out.texts, text)
		}
	}
	return out
}

// sameAs reports whether the blocks that were stored, by the sum of their hashes, are those that are marked,
// but for erased ones.
func (g *collector) sameAs(stored uint64) (bool, error) {
	n, sum := g.marks.marked.Len(), g.marks.sum
	err := g.eachErased(func(c ipld.CID) {
		n--
		sum -= g.marks.hash(c)
	})
	return n == g.res.Kept && sum == stored, err
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
	marked := g.marks.marked.Len()
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

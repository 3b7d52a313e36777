package care

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// maxLoose bounds how many blocks may have been written during the search for garbage.
const maxLoose = 10_000

var errDoubt = errors.New("something may be garbage")

// ReadAll finds the garbage and reports whether it could. It reads the blocks once in storage order, which costs a
// fraction of following links, and counts the links to each, except from operations, which the log provides. Links
// by hash form no cycle, so some of the garbage has no links to it, and the rest is reachable only from that.
// Counts and sums of hashes show whether the blocks found this way are those stored. If not, because data was
// written concurrently or is damaged, it drops its findings, and links must be followed from the operations.
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
	for _, c := range stored.graphs { // the cells of the indexes of texts of those that stay
		if err == nil && g.Marks.has(c) {
			g.Marks.Texts.Add(view.TextsKey(c))
		}
	}
	if !errors.Is(err, errDoubt) {
		return err == nil, err
	}
	g.Res.Kept, g.KeptBytes = 0, 0
	g.Marks = NewMarker(g.Ctx, g.Repo, g.Opt.Progress)
	return false, nil
}

type storedRead struct {
	blocks int
	bytes  int64
	sum    uint64 // of the hashes of the blocks
	next   []state.Lead
	graphs []ipld.CID
	logged []logged // operations
	doubt  bool     // whether there is damage
}

// markStored counts the links to blocks, and returns the other results for all of them.
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
		next, text, err := readLeads(state.Lead{Cid: b.CID, As: state.RoleAny}, b.Data, nil)
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

// unmarked returns how many stored blocks are not marked, and the sum of their hashes, given number and sum for all
// stored blocks. Marked blocks that were erased are not stored.
func (g *Collector) unmarked(blocks int, hashes uint64) (n int, sum uint64, err error) {
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

// allMarked returns errDoubt unless the stored blocks are exactly the marked ones, except for erased blocks and
// those being written.
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
	if err == nil && marked != 0 { // what is marked but neither stored nor erased is missing
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

type logged struct {
	cid, view ipld.CID
	seq       uint64
	bytes     int
}

// fall finds the garbage: operations that fall behind the horizon, views and other blocks without links to them,
// and repeatedly blocks linked only from garbage. It returns errDoubt if this garbage and the marked blocks are not
// together the stored blocks.
func (g *Collector) fall(stored storedRead) error {
	n, sum := g.Res.Kept, stored.sum
	var alone []ipld.CID
	for _, o := range stored.logged {
		if !g.Marks.has(o.cid) {
			n--
			sum -= g.Marks.hash(o.cid)
		}
		if !g.Marks.has(o.view) && o.seq >= g.was { // one kept behind the horizon may have such a view too
			alone = append(alone, o.view)
		}
	}
	slices.SortFunc(alone, ipld.CID.Compare)
	alone = slices.Compact(alone)
	for _, c := range alone {
		n--
		sum -= g.Marks.hash(c)
	}
	n, sum, err := g.unmarked(n, sum)
	if err == nil && (n != 0 || sum != 0) {
		alone, err = g.strays(stored, alone, n, sum)
	}
	if err != nil {
		return err
	}
	for _, o := range stored.logged {
		if !g.Marks.has(o.cid) {
			g.falls(fallen{cid: o.cid, named: true, bytes: o.bytes})
		}
	}
	for next := alone; len(next) > 0; {
		if next, err = g.fallen(next); err != nil {
			return err
		}
	}
	return nil
}

// strays returns unlinked blocks together with what only they lead to; n and sum are their number and the sum of
// their hashes. Blocks that were absent when all blocks were read are not among them and result in errDoubt.
func (g *Collector) strays(stored storedRead, alone []ipld.CID, n int, sum uint64) ([]ipld.CID, error) {
	var known state.CidSet
	for _, o := range stored.logged {
		known.Add(o.cid)
	}
	for _, c := range alone {
		known.Add(c)
	}
	err := g.Repo.Store.Facts().Iterate(g.Ctx, ipld.CID{}, func(b store.Block) error {
		if g.Marks.has(b.CID) || known.Has(b.CID) {
			return nil
		}
		n--
		sum -= g.Marks.hash(b.CID)
		if alone = append(alone, b.CID); n < 0 {
			return errDoubt
		}
		return nil
	})
	if err == nil && (n != 0 || sum != 0) {
		err = errDoubt
	}
	return alone, err
}

type fallen struct {
	cid   ipld.CID
	named bool
	bytes int
	next  []state.Lead
}

// falls records as garbage a block that was counted as staying.
func (g *Collector) falls(b fallen) {
	g.Res.Kept--
	g.KeptBytes -= int64(b.bytes)
	g.goes(b.cid, b.named, b.bytes)
}

// fallen records blocks, except erased ones, as garbage, and returns what becomes garbage with them. It reads them
// in storage order, on all processors.
func (g *Collector) fallen(cids []ipld.CID) (next []ipld.CID, err error) {
	slices.SortFunc(cids, ipld.CID.Compare)
	limit := parallel.Limit[[]ipld.CID]{Bytes: 2 * runtime.GOMAXPROCS(0), Size: func([]ipld.CID) int { return 1 }}
	for found := range parallel.Map(slices.Chunk(cids, waveGroup), limit, g.readFallen) {
		for _, b := range found.blocks {
			g.falls(b)
			for _, l := range b.next {
				if g.Marks.less(l.Cid) {
					next = append(next, l.Cid)
				}
			}
		}
		if found.err != nil {
			return nil, found.err
		}
	}
	return next, nil
}

type fallenRead struct {
	blocks []fallen
	err    error
}

func (g *Collector) readFallen(cids []ipld.CID) (out fallenRead) {
	read := func(c ipld.CID, data []byte, err error) error {
		if errors.Is(err, store.ErrRedacted) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read garbage: %w", err)
		}
		b := fallen{cid: c, named: isNamed(store.Block{CID: c, Data: data}), bytes: len(data)}
		b.next, _, err = readLeads(state.Lead{Cid: c, As: state.RoleAny}, data, nil)
		out.blocks = append(out.blocks, b)
		return err
	}
	out.err = store.GetEach(g.Ctx, g.Repo.Store.Facts(), slices.Values(cids), read)
	return out
}

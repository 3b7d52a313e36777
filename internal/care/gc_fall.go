package care

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// logged is a stored operation.
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

// fallen is a garbage block.
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
		b.next, _, err = readLeads(state.Lead{Cid: c, As: roleAny}, data, nil)
		out.blocks = append(out.blocks, b)
		return err
	}
	out.err = store.GetEach(g.Ctx, g.Repo.Store.Facts(), slices.Values(cids), read)
	return out
}

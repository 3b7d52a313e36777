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

// logged is an operation that is stored.
type logged struct {
	cid, view ipld.CID
	seq       uint64
	bytes     int
}

// fall finds what goes: operations that fall behind the horizon, views and other blocks that nothing leads
// to, and, again and again, what was led to by nothing but what goes. It returns errDoubt where the blocks
// that were stored are not these and those that are marked.
func (g *Collector) fall(stored storedRead) error {
	n, sum := g.Res.Kept, stored.sum
	var alone []ipld.CID
	for _, o := range stored.logged {
		if !g.Marks.has(o.cid) {
			n--
			sum -= g.Marks.hash(o.cid)
		}
		if !g.Marks.has(o.view) && o.seq >= g.was { // one that is kept behind the horizon may have such a view too
			alone = append(alone, o.view)
		}
	}
	slices.SortFunc(alone, ipld.CID.Compare)
	alone = slices.Compact(alone)
	for _, c := range alone {
		n--
		sum -= g.Marks.hash(c)
	}
	n, sum, err := g.beside(n, sum)
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

// strays returns blocks that nothing leads to with other such ones, of which there are so many by the sum of
// their hashes: what was not there when all blocks were read is none of them, and leads to errDoubt.
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

// fallen is a block that goes.
type fallen struct {
	cid   ipld.CID
	named bool
	bytes int
	next  []state.Lead
}

// falls notes that a block goes which was taken for one that stays.
func (g *Collector) falls(b fallen) {
	g.Res.Kept--
	g.KeptBytes -= int64(b.bytes)
	g.goes(b.cid, b.named, b.bytes)
}

// fallen notes that blocks go, but for those that were erased, and returns what goes with them at once. It
// reads them in the order of the store, on all processors.
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

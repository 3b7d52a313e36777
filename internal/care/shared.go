package care

import (
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// delete removes blocks that nothing leads to from what was marked last.
func (g *Collector) delete(from store.Deleter, derived bool, gone []ipld.CID) error {
	if g.Repo.SharedStore == nil {
		return from.Delete(g.Ctx, gone...)
	}
	for len(gone) > 0 {
		n := min(sweepSlice, len(gone))
		blocks, size, err := g.Repo.SharedStore.Sweep(g.Ctx, g.at, derived, gone[:n]...)
		if err != nil {
			return err
		}
		g.Res.Blocks += blocks
		g.Res.Bytes += size
		gone = gone[n:]
	}
	return nil
}

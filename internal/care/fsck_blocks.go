package care

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

// batchBytes is how many bytes of blocks are checked at a time; a single block may be larger.
const batchBytes = 256 << 10

// expect enables computing the contents of indexes while facts are read, if there are any indexes.
func (f *FsckRun) expect() error {
	err := f.Repo.Store.Derived().Iterate(f.Ctx, ipld.CID{}, func(store.Block) error { return core.ErrStop })
	if !errors.Is(err, core.ErrStop) {
		return f.Ctx.Err() // faults are reported when all blocks are verified
	}
	f.Known.Texts = index.NewExpectations()
	return nil
}

// checker is a store that can check itself beyond blocks.
type checker interface {
	// Check calls each with every block that Iterate shows, in order, and fn with every other fault: keys of no
	// known form, and damage of data stored outside the database.
	Check(ctx context.Context, each func(b store.Block, derived bool) error, fn func(message string) error) error
}

// Stored verifies all blocks and the data around them.
func (f *FsckRun) Stored() error {
	if err := f.expect(); err != nil {
		return err
	}
	around := func(message string) error {
		f.add(ipld.CID{}, FsckStore, "%s", message)
		return nil
	}
	c, ok := f.Repo.Store.(checker)
	if ok {
		err := f.each(func(ctx context.Context, each func(store.Block, bool) error) error {
			return c.Check(ctx, each, around)
		})
		if err == nil || f.Ctx.Err() != nil {
			return f.Ctx.Err()
		}
		// The check ended at damage: read each space up to its own damage.
		texts := f.Known.Texts
		f.Known, f.Report = view.NewKnownRecords(), &FsckReport{}
		f.Known.Texts = texts
		if err := f.looked(c.Check(f.Ctx, nil, around)); err != nil {
			return err
		}
	}
	for derived, blocks := range []store.Blocks{f.Repo.Store.Facts(), f.Repo.Store.Derived()} {
		err := f.each(func(ctx context.Context, each func(store.Block, bool) error) error {
			return blocks.Iterate(ctx, ipld.CID{}, func(b store.Block) error { return each(b, derived == 1) })
		})
		if err := f.looked(err); err != nil {
			return err
		}
	}
	return nil
}

func (f *FsckRun) look(b store.Block, v *verified) error {
	if b.CID.Codec() != ipld.DagCBOR {
		return nil
	}
	if r, ok := f.Known.Read(b.CID, b.Data); ok { // records that decode are canonical
		v.known = append(v.known, r)
		return nil
	}
	return ipld.Check(b.Data)
}

type verified struct {
	known  []view.KnownRecord
	errors []badBlock
}

type badBlock struct {
	cid ipld.CID
	err error
}

// each verifies blocks in storage order, reading each once, on all processors, and looks at facts that are intact.
// It records damage in CID order. It returns the error of iterating.
func (f *FsckRun) each(iterate func(context.Context, func(store.Block, bool) error) error) error {
	var failed error
	batches := inBatches(func(each func(store.Block, bool) error) error {
		return iterate(f.Ctx, func(b store.Block, derived bool) error {
			what := "facts"
			if derived {
				what = "derived"
			}
			f.Report.Blocks++
			f.progress(what, f.Report.Blocks)
			return each(b, derived)
		})
	}, &failed)
	for v := range parallel.Map(batches, batchLimit, f.verifyBatch) {
		for _, r := range v.known {
			f.Known.Add(r)
		}
		for _, b := range v.errors {
			f.fail(b.cid, FsckBlock, b.err)
		}
	}
	return failed
}

type blockBatch struct {
	blocks  []store.Block
	derived bool
}

// batchLimit bounds the number of concurrent batches.
var batchLimit = parallel.Limit[blockBatch]{Bytes: math.MaxInt, Size: func(blockBatch) int { return 0 }}

// inBatches yields batches of consecutive blocks from iterate, and stores the error that ended it.
func inBatches(iterate func(func(b store.Block, derived bool) error) error, failed *error) iter.Seq[blockBatch] {
	return func(yield func(blockBatch) bool) {
		var now blockBatch
		var buffer []byte
		err := iterate(func(b store.Block, derived bool) error {
			if len(buffer)+len(b.Data) > cap(buffer) || derived != now.derived {
				if len(now.blocks) > 0 && !yield(now) {
					return core.ErrStop
				}
				now, buffer = blockBatch{derived: derived}, make([]byte, 0, max(batchBytes, len(b.Data)))
			}
			from := len(buffer) // the data is good for this call alone
			buffer = append(buffer, b.Data...)
			b.Data = buffer[from:len(buffer):len(buffer)]
			now.blocks = append(now.blocks, b)
			return nil
		})
		if !errors.Is(err, core.ErrStop) && (len(now.blocks) == 0 || yield(now)) {
			*failed = err
		}
	}
}

func (f *FsckRun) verifyBatch(b blockBatch) (v verified) {
	for _, block := range b.blocks {
		err := block.Verify()
		if err == nil && !b.derived {
			err = f.look(block, &v)
		}
		if err != nil {
			v.errors = append(v.errors, badBlock{block.CID, err})
		}
	}
	return v
}

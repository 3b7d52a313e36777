package care

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// batchBytes is how many bytes of blocks are looked at at a time; one block may be more.
const batchBytes = 256 << 10

// errIndexed ends looking for an index.
var errIndexed = errors.New("there is one")

// expect has what indexes must hold worked out where facts are read, if there are any indexes.
func (f *FsckRun) expect() error {
	err := f.Repo.Store.Derived().Iterate(f.Ctx, ipld.CID{}, func(store.Block) error { return errIndexed })
	if !errors.Is(err, errIndexed) {
		return f.Ctx.Err() // what is wrong is said where all are verified
	}
	f.Known.Texts, err = index.NewExpectations(retrieve.Language)
	return err
}

// checker is a store that can look at itself beyond blocks.
type checker interface {
	// Check calls each with every block that Iterate shows, in order, and fn with every fault around the
	// blocks: keys that belong to nothing, and damage of what is kept outside the database.
	Check(ctx context.Context, each func(b store.Block, derived bool) error, fn func(message string) error) error
}

// Stored verifies all blocks and what is around them.
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
		// Damage ended it, and each space is read as far as that goes.
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

// look keeps what is known of the record of a fact.
func (f *FsckRun) look(b store.Block, v *verified) error {
	if b.CID.Codec() != ipld.DagCBOR {
		return nil
	}
	if r, ok := f.Known.Read(b.CID, b.Data); ok { // what decodes is canonical
		v.known = append(v.known, r)
		return nil
	}
	return ipld.Check(b.Data)
}

// verified is what was found in a batch.
type verified struct {
	known  []view.KnownRecord
	errors []badBlock
}

type badBlock struct {
	cid ipld.CID
	err error
}

// each goes through blocks in the order in which they are stored, reads each once and has them
// verified, and facts looked at where they are what they should be, on all processors. Damage is noted in
// the order of CIDs. The error is that of going through them.
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

// blockBatch is blocks that follow each other.
type blockBatch struct {
	blocks  []store.Block
	derived bool
}

// batchLimit bounds the batches of blocks that are looked at at once by their number.
var batchLimit = parallel.Limit[blockBatch]{
	Bytes: math.MaxInt, Size: func(blockBatch) int { return 0 },
}

var errNoMore = errors.New("no more blocks are wanted")

// inBatches yields the blocks that iterate calls its argument with, and whether they are derived, those that
// follow each other together, and keeps the error that ended it.
func inBatches(
	iterate func(func(b store.Block, derived bool) error) error, failed *error,
) iter.Seq[blockBatch] {
	return func(yield func(blockBatch) bool) {
		var now blockBatch
		var buffer []byte
		err := iterate(func(b store.Block, derived bool) error {
			if len(buffer)+len(b.Data) > cap(buffer) || derived != now.derived {
				if len(now.blocks) > 0 && !yield(now) {
					return errNoMore
				}
				now, buffer = blockBatch{derived: derived}, make([]byte, 0, max(batchBytes, len(b.Data)))
			}
			from := len(buffer) // the data is good for this call alone
			buffer = append(buffer, b.Data...)
			b.Data = buffer[from:len(buffer):len(buffer)]
			now.blocks = append(now.blocks, b)
			return nil
		})
		if errors.Is(err, errNoMore) {
			return
		}
		if len(now.blocks) > 0 && !yield(now) {
			return
		}
		*failed = err
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

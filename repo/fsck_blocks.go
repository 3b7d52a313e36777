package repo

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/internal/parallel"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// blockBatch is how many bytes of blocks are looked at at a time; one block may be more.
const blockBatch = 256 << 10

// errIndexed ends looking for an index.
var errIndexed = errors.New("there is one")

// expect has what indexes must hold worked out where facts are read, if there are any indexes.
func (f *fsck) expect() error {
	err := f.repo.store.Derived().Iterate(f.ctx, ipld.CID{}, func(store.Block) error { return errIndexed })
	if !errors.Is(err, errIndexed) {
		return f.ctx.Err() // what is wrong is said where all are verified
	}
	f.known.texts, err = index.NewExpectations(retrieve.Language)
	return err
}

// blocks verifies all facts and keeps what is known of their records.
func (f *fsck) blocks() error {
	if err := f.expect(); err != nil {
		return err
	}
	return f.each("facts", f.repo.store.Facts(), func(b store.Block, v *verified) error {
		if b.CID.Codec() != ipld.DagCBOR {
			return nil
		}
		if r, ok := f.known.read(b.CID, b.Data); ok { // what decodes is canonical
			v.known = append(v.known, r)
			return nil
		}
		return ipld.Check(b.Data)
	})
}

func (f *fsck) derived() error {
	look := func(store.Block, *verified) error { return nil }
	return f.each("derived", f.repo.store.Derived(), look)
}

// verified is what was found in a batch.
type verified struct {
	known  []knownRecord
	errors []badBlock
}

type badBlock struct {
	cid ipld.CID
	err error
}

// each goes through blocks in the order in which they are stored, reads each once and has them
// verified, and looked at where they are what they should be, on all processors. Damage is noted in the
// order of CIDs.
func (f *fsck) each(
	what string, blocks store.Blocks, look func(store.Block, *verified) error,
) error {
	var failed error
	batches := inBatches(f.ctx, blocks, func() {
		f.report.Blocks++
		f.progress(what, f.report.Blocks)
	}, &failed)
	verify := func(b []store.Block) verified { return verifyBatch(b, look) }
	for v := range parallel.Map(batches, batchLimit, verify) {
		for _, r := range v.known {
			f.known.add(r)
		}
		for _, b := range v.errors {
			f.fail(b.cid, FsckBlock, b.err)
		}
	}
	return f.looked(failed)
}

// batchLimit bounds the batches of blocks that are looked at at once by their number.
var batchLimit = parallel.Limit[[]store.Block]{
	Bytes: math.MaxInt, Size: func([]store.Block) int { return 0 },
}

var errNoMore = errors.New("no more blocks are wanted")

// inBatches yields blocks in the order in which they are stored, those that follow each other together,
// and keeps the error that ended it. It calls each for every block.
func inBatches(
	ctx context.Context, blocks store.Blocks, each func(), failed *error,
) iter.Seq[[]store.Block] {
	return func(yield func([]store.Block) bool) {
		var batch []store.Block
		var buffer []byte
		err := blocks.Iterate(ctx, ipld.CID{}, func(b store.Block) error {
			each()
			if len(buffer)+len(b.Data) > cap(buffer) {
				if len(batch) > 0 && !yield(batch) {
					return errNoMore
				}
				batch, buffer = nil, make([]byte, 0, max(blockBatch, len(b.Data)))
			}
			from := len(buffer) // the data is good for this call alone
			buffer = append(buffer, b.Data...)
			b.Data = buffer[from:len(buffer):len(buffer)]
			batch = append(batch, b)
			return nil
		})
		if errors.Is(err, errNoMore) {
			return
		}
		if len(batch) > 0 && !yield(batch) {
			return
		}
		*failed = err
	}
}

func verifyBatch(b []store.Block, look func(store.Block, *verified) error) (v verified) {
	for _, block := range b {
		err := block.Verify()
		if err == nil {
			err = look(block, &v)
		}
		if err != nil {
			v.errors = append(v.errors, badBlock{block.CID, err})
		}
	}
	return v
}

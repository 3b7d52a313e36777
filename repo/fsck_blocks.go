package repo

import (
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// fsckBatch is how many bytes of blocks are verified at a time; one block may be more.
const fsckBatch = 256 << 10

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
		if err := ipld.Check(b.Data); err != nil {
			return err
		}
		if r, ok := f.known.read(b.CID, b.Data); ok {
			v.known = append(v.known, r)
		}
		return nil
	})
}

func (f *fsck) derived() error {
	look := func(store.Block, *verified) error { return nil }
	return f.each("derived", f.repo.store.Derived(), look)
}

// blockBatch is blocks that follow each other, their bytes in one buffer.
type blockBatch struct {
	blocks []store.Block
	buffer []byte
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
// verified, and looked at where they are what they should be, on all processors: it keeps two
// batches for each of these. Damage is noted in the order of CIDs.
func (f *fsck) each(
	what string, blocks store.Blocks, look func(store.Block, *verified) error,
) error {
	workers := runtime.GOMAXPROCS(0)
	jobs, found := make(chan blockBatch, workers), make(chan verified, workers)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for b := range jobs {
				found <- verifyBatch(b, look)
			}
		})
	}
	var bad []badBlock
	take := func(v verified) {
		for _, r := range v.known {
			f.known.add(r)
		}
		if bad = append(bad, v.errors...); len(bad) > 2*maxFsckErrors {
			bad = firstBad(bad)
		}
	}
	var next blockBatch
	send := func() {
		for len(next.blocks) > 0 {
			select {
			case jobs <- next:
				next = blockBatch{}
			case v := <-found:
				take(v)
			}
		}
	}
	err := blocks.Iterate(f.ctx, ipld.CID{}, func(b store.Block) error {
		f.report.Blocks++
		f.progress(what, f.report.Blocks)
		if len(next.buffer)+len(b.Data) > cap(next.buffer) {
			send()
			next.buffer = make([]byte, 0, max(fsckBatch, len(b.Data)))
		}
		from := len(next.buffer) // the data is good for this call alone
		next.buffer = append(next.buffer, b.Data...)
		b.Data = next.buffer[from:len(next.buffer):len(next.buffer)]
		next.blocks = append(next.blocks, b)
		return nil
	})
	send()
	close(jobs)
	go func() {
		wait.Wait()
		close(found)
	}()
	for v := range found {
		take(v)
	}
	for _, b := range firstBad(bad) {
		f.fail(b.cid, FsckBlock, b.err)
	}
	return f.looked(err)
}

// firstBad returns those that a report has room for.
func firstBad(bad []badBlock) []badBlock {
	slices.SortFunc(bad, func(a, b badBlock) int { return a.cid.Compare(b.cid) })
	return bad[:min(len(bad), maxFsckErrors)]
}

func verifyBatch(b blockBatch, look func(store.Block, *verified) error) (v verified) {
	for _, block := range b.blocks {
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

package exchange

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// AheadBytes is how much of a file is read ahead, if blocks are read roughly in its order.
const AheadBytes = 256 << 10

// Ahead reads a file ahead. Safe for concurrent use.
type Ahead struct {
	In  io.ReaderAt
	mu  sync.Mutex
	buf []byte // its content
	at  int64  // from here on
	end int64  // the end of the last read
}

// ReadAt implements io.ReaderAt. A read of less than AheadBytes that begins less than AheadBytes/4 after the end of
// the last one fills the buffer; other reads outside the buffer go to In.
func (a *Ahead) ReadAt(p []byte, at int64) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	inside := at >= a.at && at+int64(len(p)) <= a.at+int64(len(a.buf))
	near := at >= a.end && at < a.end+AheadBytes/4
	a.end = at + int64(len(p))
	if !inside && near && len(p) < AheadBytes {
		buf := a.buf[:cap(a.buf)]
		if len(buf) == 0 {
			buf = make([]byte, AheadBytes)
		}
		n, err := a.In.ReadAt(buf, at)
		if a.buf, a.at = buf[:n], at; err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		inside = n >= len(p)
	}
	if !inside {
		return a.In.ReadAt(p, at)
	}
	return copy(p, a.buf[at-a.at:]), nil
}

// carFile is a verified CAR file with the offset of each block. Blocks are read on demand; memory is about 50 bytes
// a block.
type carFile struct {
	in     io.ReaderAt
	root   ipld.CID
	blocks []carBlock // in CID order
	// starts holds, by codec, the index of the first block whose digest begins with each number, then the end; nil
	// for small files.
	starts map[ipld.Codec][]int32
	// redacted holds the blocks that the file lists as erased, with their stubs.
	redacted map[ipld.CID][]byte
}

type carBlock struct {
	cid   ipld.CID
	as    state.Role // 0 until something leads to it
	size  int32      // of the block in bytes
	start int64      // of the block in the file
}

func (b *carBlock) offset() int64 {
	length := int64(1)
	for n := ipld.CIDLen + int(b.size); n >= 0x80; n >>= 7 {
		length++
	}
	return b.start - ipld.CIDLen - length
}

// scanFile reads a whole file. It returns a *car.FormatError unless the file is well-formed, has one root, which is
// its first block, and no duplicate block.
func scanFile(ctx context.Context, in io.ReaderAt, size int64, progress func(string, int)) (*carFile, error) {
	r, err := car.NewReader(io.NewSectionReader(in, 0, size))
	if err != nil {
		return nil, err
	}
	if n := len(r.Roots()); n != 1 {
		return nil, &car.FormatError{Reason: fmt.Sprintf("%d roots, want the manifest alone", n)}
	}
	f := &carFile{in: &Ahead{In: in}, root: r.Roots()[0]}
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if len(f.blocks) == 0 && b.CID != f.root {
			return nil, &car.FormatError{
				Offset: b.Offset, CID: b.CID, Reason: "the first block is not the root, " + f.root.String(),
			}
		}
		f.blocks = append(f.blocks, carBlock{cid: b.CID, size: int32(len(b.Data)), start: b.Start})
		if len(f.blocks)%core.ProgressEvery == 0 {
			progress("blocks read", len(f.blocks))
		}
	}
	if len(f.blocks) == 0 {
		return nil, &car.FormatError{Reason: "no blocks: the root is missing"}
	}
	return f, f.sort()
}

// sort orders the blocks and looks for a duplicate.
func (f *carFile) sort() error {
	slices.SortFunc(f.blocks, func(a, b carBlock) int {
		if c := a.cid.Compare(b.cid); c != 0 {
			return c
		}
		return cmp.Compare(a.start, b.start)
	})
	f.index()
	for i := range f.blocks[1:] {
		if b := &f.blocks[i+1]; b.cid == f.blocks[i].cid {
			return f.fault(b, "the block is in the file twice")
		}
	}
	return nil
}

func (f *carFile) fault(b *carBlock, format string, args ...any) error {
	return &car.FormatError{Offset: b.offset(), CID: b.cid, Reason: fmt.Sprintf(format, args...)}
}

// find returns the position of a block, nil if it is not in the file.
func (f *carFile) find(c ipld.CID) *carBlock {
	part := f.blocks
	if f.starts != nil {
		at := f.starts[c.Codec()]
		if at == nil {
			return nil
		}
		first := leadingBits(c)
		part = part[at[first]:at[first+1]]
	}
	i, ok := slices.BinarySearchFunc(part, c, func(b carBlock, c ipld.CID) int {
		return b.cid.Compare(c)
	})
	if !ok {
		return nil
	}
	return &part[i]
}

// startBits is the number of leading digest bits indexed for files of at least startFrom blocks. Digests are
// uniform; a file crafted otherwise costs a search among all blocks.
const (
	startBits = 16
	startFrom = 1 << 13
)

func leadingBits(c ipld.CID) int {
	d := c.Digest()
	return int(binary.BigEndian.Uint16(d[:]))
}

// index computes starts for the sorted blocks.
func (f *carFile) index() {
	if len(f.blocks) < startFrom {
		return
	}
	f.starts = make(map[ipld.Codec][]int32)
	for i := 0; i < len(f.blocks); {
		codec := f.blocks[i].cid.Codec()
		at := make([]int32, 1<<startBits+1)
		for n := range at {
			for i < len(f.blocks) && f.blocks[i].cid.Codec() == codec && leadingBits(f.blocks[i].cid) < n {
				i++
			}
			at[n] = int32(i)
		}
		f.starts[codec] = at
	}
}

// read returns the bytes of a block, verified again: a file may change while it is read.
func (f *carFile) read(b *carBlock) ([]byte, error) {
	data := make([]byte, b.size)
	if _, err := f.in.ReadAt(data, b.start); err != nil {
		return nil, fmt.Errorf("read CAR file: %w", err)
	}
	if ipld.Sum(b.cid.Codec(), data) != b.cid {
		return nil, f.fault(b, "the file changed while it was read")
	}
	return data, nil
}

// importStore overlays a store with the blocks of a file, and writes nothing.
type importStore struct {
	store.Store
	file *carFile
}

// Facts returns the file's blocks overlaid on the store's facts.
func (s importStore) Facts() store.Blocks { return importBlocks{s.Store.Facts(), s.file} }

// Commit always returns store.ErrReadOnly.
func (s importStore) Commit(context.Context, store.Head, store.Head, ...store.Block) error {
	return store.ErrReadOnly
}

type importBlocks struct {
	store.Blocks
	file *carFile
}

// Get returns a block of the file, verified again, or else of the store. A block that both lack is a
// *store.RedactedError if the file has a redaction of it.
func (b importBlocks) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	if at := b.file.find(c); at != nil {
		return b.file.read(at)
	}
	data, err := b.Blocks.Get(ctx, c)
	if stub, gone := b.file.redacted[c]; gone && errors.Is(err, store.ErrNotFound) {
		err = &store.RedactedError{CID: c, Stub: stub}
	}
	return data, err
}

// Has reports whether the file or the store has a block.
func (b importBlocks) Has(ctx context.Context, c ipld.CID) (bool, error) {
	if b.file.find(c) != nil {
		return true, ctx.Err()
	}
	return b.Blocks.Has(ctx, c)
}

// Put always returns store.ErrReadOnly.
func (b importBlocks) Put(context.Context, ...store.Block) error { return store.ErrReadOnly }

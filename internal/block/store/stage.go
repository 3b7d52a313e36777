package store

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/ipld"
)

// Stage is a write buffer over Blocks. Blocks put into it can be read at once. They reach the underlying Blocks
// when the buffer exceeds its limit or is flushed, or can be passed to a Commit instead. Stage implements Getter
// and Putter, and is safe for concurrent use.
type Stage struct {
	base   Blocks
	limit  int
	behind bool

	mu      sync.RWMutex
	pending map[ipld.CID][]byte
	free    []byte  // backing array for small blocks
	order   []Block // pending, in the order they were put
	size    int     // bytes pending

	writing *stageWrite // in progress, or nil
	spare   *stageWrite // a finished write whose memory is reused, or nil
}

// stageWrite is a background write of blocks.
type stageWrite struct {
	blocks map[ipld.CID][]byte // as they were pending
	order  []Block
	size   int
	done   chan error // of capacity 1, so that the goroutine ends even if no one receives
}

// NewStage returns an empty stage over base that keeps up to limit bytes before it writes them
// to base by itself; 0 means no limit: then only Flush writes.
func NewStage(base Blocks, limit int) *Stage {
	return &Stage{base: base, limit: limit, pending: make(map[ipld.CID][]byte)}
}

// NewStageBehind is NewStage for a buffer that is written in the background while it fills again. It buffers up to
// limit bytes, half of them being written. The error of a background write is returned by the next Put over the
// limit or Flush. Call Wait before the underlying Blocks are closed or must not be written to.
func NewStageBehind(base Blocks, limit int) *Stage {
	s := NewStage(base, limit/2)
	s.behind = true
	return s
}

// buffered returns a block of the buffer. mu must be held.
func (s *Stage) buffered(c ipld.CID) ([]byte, bool) {
	data, ok := s.pending[c]
	if !ok && s.writing != nil {
		data, ok = s.writing.blocks[c]
	}
	return data, ok
}

// Get returns a block from the buffer or else from the underlying Blocks.
func (s *Stage) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	s.mu.RLock()
	data, ok := s.buffered(c)
	s.mu.RUnlock()
	if ok {
		return bytes.Clone(data), nil
	}
	return s.base.Get(ctx, c)
}

// GetEach calls fn with blocks from the buffer and from the underlying Blocks.
func (s *Stage) GetEach(ctx context.Context, cids iter.Seq[ipld.CID], fn EachFunc) error {
	var failed error
	below := func(yield func(ipld.CID) bool) {
		for c := range cids {
			s.mu.RLock()
			data, ok := s.buffered(c)
			s.mu.RUnlock()
			switch {
			case !ok:
				if !yield(c) {
					return
				}
			case ctx.Err() != nil:
				failed = ctx.Err()
				return
			default:
				if failed = fn(c, bytes.Clone(data), nil); failed != nil {
					return
				}
			}
		}
	}
	return cmp.Or(GetEach(ctx, s.base, below, fn), failed)
}

// Has reports whether a block is in the buffer or in the underlying Blocks.
func (s *Stage) Has(ctx context.Context, c ipld.CID) (bool, error) {
	s.mu.RLock()
	_, ok := s.buffered(c)
	s.mu.RUnlock()
	if ok {
		return true, nil
	}
	return s.base.Has(ctx, c)
}

// Put copies blocks into the buffer, in order, each CID once. It does not verify them: blocks made by NewBlock are
// hashed already, and every block is verified when it reaches a store. When the buffer exceeds its limit Put
// flushes it and returns the error of that; the blocks then stay in the buffer.
func (s *Stage) Put(ctx context.Context, blocks ...Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range blocks {
		if _, ok := s.buffered(b.CID); ok {
			continue
		}
		data := s.copy(b.Data)
		s.pending[b.CID] = data
		s.order = append(s.order, Block{b.CID, data})
		s.size += len(data)
	}
	if s.limit == 0 || s.size <= s.limit {
		return nil
	}
	if s.behind {
		return s.writeBehind(ctx)
	}
	return s.flush(ctx)
}

// copy copies the data of a block; the result is never nil. Small blocks, which can be very many, share
// allocations. The first allocations are short, since many stages receive only a block or two.
func (s *Stage) copy(data []byte) []byte {
	const small, least, most = 4 << 10, 512, 64 << 10
	if len(data) > small {
		return bytes.Clone(data)
	}
	if s.free == nil || len(data) > cap(s.free)-len(s.free) {
		s.free = make([]byte, 0, min(max(least, 2*cap(s.free), len(data)), most))
	}
	start := len(s.free)
	s.free = append(s.free, data...)
	return s.free[start:len(s.free):len(s.free)]
}

// writeBehind starts writing the buffer, after the previous write has finished.
func (s *Stage) writeBehind(ctx context.Context) error {
	if err := s.await(); err != nil {
		return err
	}
	w := &stageWrite{blocks: s.pending, order: s.order, size: s.size, done: make(chan error, 1)}
	s.writing = w
	if s.size = 0; s.spare == nil {
		s.spare = &stageWrite{blocks: make(map[ipld.CID][]byte, len(w.blocks)), order: make([]Block, 0, len(w.order))}
	}
	s.pending, s.order, s.spare = s.spare.blocks, s.spare.order, nil
	go func() { w.done <- s.base.Put(ctx, w.order...) }()
	return nil
}

// leastAhead is the number of bytes worth a write of their own.
const leastAhead = 1 << 20

// Ahead starts writing the buffered blocks of a stage made by NewStageBehind, if there are many. It is for a caller
// that does other work before Pending.
func (s *Stage) Ahead(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.behind && s.size >= leastAhead {
		_ = s.writeBehind(ctx) // blocks of a failed write are pending again
	}
}

// await waits until no write is in progress. It returns the blocks of a failed write to the front of the buffer.
func (s *Stage) await() error {
	w := s.writing
	if w == nil {
		return nil
	}
	err := <-w.done
	s.writing = nil
	if err != nil {
		maps.Copy(s.pending, w.blocks)
		s.order = append(w.order, s.order...)
		s.size += w.size
		return err
	}
	clear(w.blocks)
	clear(w.order)
	s.spare = &stageWrite{blocks: w.blocks, order: w.order[:0]}
	return nil
}

// Wait waits until no background write is in progress. Blocks of a failed write are pending again.
func (s *Stage) Wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.await() // a caller that needs the blocks writes them, and gets the error
}

// Flush writes the buffered blocks to the underlying Blocks and empties the buffer. After an
// error they are still buffered.
func (s *Stage) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(ctx)
}

func (s *Stage) flush(ctx context.Context) error {
	if err := s.await(); err != nil {
		return err
	}
	if len(s.order) == 0 {
		return nil
	}
	if err := s.base.Put(ctx, s.order...); err != nil {
		return err
	}
	clear(s.pending)
	clear(s.order)
	s.order, s.size = s.order[:0], 0
	return nil
}

// Pending returns the blocks not yet flushed, in the order they were put, for a Commit. Their data must not be
// changed. They stay in the buffer.
func (s *Stage) Pending() []Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.await() // blocks of a failed write are among them
	return slices.Clone(s.order)
}

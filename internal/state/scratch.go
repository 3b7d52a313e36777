package state

import (
	"context"
	"errors"
	"sync"

	"github.com/mnem-project/mnem/internal/block/store"
)

// StageLimit is how many bytes of new blocks a transaction buffers before it writes them to the store, unreferenced
// and not yet durable. It bounds the memory of a bulk commit.
const StageLimit = 16 << 20

// ScratchRoom is a transaction's scratch file for data that does not fit into memory. The file is made on first
// use. Safe for concurrent use. A nil ScratchRoom has no space.
type ScratchRoom struct {
	Ctx  context.Context
	From store.Scratcher
	mu   sync.Mutex
	file store.Scratch
	size int64
}

// NewScratchRoom returns a scratch file in a store, or nil if the store has none.
func NewScratchRoom(ctx context.Context, s store.Store) *ScratchRoom {
	from, ok := s.(store.Scratcher)
	if !ok {
		return nil
	}
	return &ScratchRoom{Ctx: ctx, From: from}
}

// Add writes bytes and returns their offset for ReadAt.
func (r *ScratchRoom) Add(b []byte) (at int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		if r.file, err = r.From.Scratch(r.Ctx); err != nil {
			return 0, err
		}
	}
	at = r.size
	n, err := r.file.Write(b)
	r.size += int64(n)
	return at, err
}

// ReadAt reads bytes that Add wrote.
func (r *ScratchRoom) ReadAt(b []byte, at int64) (int, error) {
	r.mu.Lock()
	file := r.file
	r.mu.Unlock()
	if file == nil {
		return 0, errors.New("nothing was added")
	}
	n, err := file.ReadAt(b, at)
	if n == len(b) {
		err = nil // the read may end at the end of the file
	}
	return n, err
}

// Close removes the file.
func (r *ScratchRoom) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file, r.size = nil, 0
	return err
}

package state

import (
	"context"
	"errors"
	"sync"

	"github.com/mnem-project/mnem/internal/block/store"
)

// StageLimit is how many bytes of new blocks a transaction keeps before it writes them, not
// yet durable and reached by nothing, to the store: it bounds the memory of a bulk commit.
const StageLimit = 16 << 20

// ScratchRoom is where a transaction keeps what does not fit into memory, in a file that is made when it
// is first wanted. Safe for concurrent use. nil has no room.
type ScratchRoom struct {
	Ctx  context.Context
	From store.Scratcher
	mu   sync.Mutex
	file store.Scratch
	size int64
}

// NewScratchRoom returns the room of a store, nil where it has none.
func NewScratchRoom(ctx context.Context, s store.Store) *ScratchRoom {
	from, ok := s.(store.Scratcher)
	if !ok {
		return nil
	}
	return &ScratchRoom{Ctx: ctx, From: from}
}

// Add writes bytes and returns where ReadAt finds them.
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

// ReadAt reads what was added.
func (r *ScratchRoom) ReadAt(b []byte, at int64) (int, error) {
	r.mu.Lock()
	file := r.file
	r.mu.Unlock()
	if file == nil {
		return 0, errors.New("nothing was added")
	}
	n, err := file.ReadAt(b, at)
	if n == len(b) {
		err = nil // it may have met the end
	}
	return n, err
}

// Close gives the room away.
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

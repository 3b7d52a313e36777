package testkit

import (
	"context"
	"sync"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Tamper is a store whose Get and Iterate behave like a lying disk: if Lie is set, it is called with every block read,
// facts and derived, and its result goes to the caller; Iterate skips a block for which it returns an error. The stored
// blocks do not change, and the result of Lie is not verified. Safe for concurrent use if Lie is, and if Lie is not set
// at the same time.
type Tamper struct {
	store.Store
	Lie func(c ipld.CID, data []byte) ([]byte, error)

	mu   sync.Mutex
	read []ipld.CID
	seen map[ipld.CID]bool
}

// NewTamper returns a store that does not lie yet.
func NewTamper(s store.Store) *Tamper {
	return &Tamper{Store: s, seen: make(map[ipld.CID]bool)}
}

// Read returns the CIDs of all blocks read so far, each once, in the order they were first read.
func (t *Tamper) Read() []ipld.CID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]ipld.CID(nil), t.read...)
}

// Close leaves the store below open, so that it can be read through another Tamper.
func (t *Tamper) Close() error { return nil }

// Facts returns the facts, through Lie.
func (t *Tamper) Facts() store.Blocks { return tampered{t.Store.Facts(), t} }

// Derived returns the derived data, through Lie.
func (t *Tamper) Derived() store.Derived {
	d := t.Store.Derived()
	return tamperedDerived{d, tampered{d, t}}
}

type tampered struct {
	store.Blocks
	by *Tamper
}

func (b tampered) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := b.Blocks.Get(ctx, c)
	if err != nil {
		return nil, err
	}
	b.by.mu.Lock()
	if !b.by.seen[c] {
		b.by.seen[c] = true
		b.by.read = append(b.by.read, c)
	}
	b.by.mu.Unlock()
	if b.by.Lie != nil {
		return b.by.Lie(c, data)
	}
	return data, nil
}

// Iterate calls fn with the blocks through Lie. It does not count as reading.
func (b tampered) Iterate(
	ctx context.Context, from ipld.CID, fn func(store.Block) error,
) error {
	return b.Blocks.Iterate(ctx, from, func(block store.Block) error {
		if b.by.Lie != nil {
			data, err := b.by.Lie(block.CID, append([]byte(nil), block.Data...))
			if err != nil {
				return nil
			}
			block.Data = data
		}
		return fn(block)
	})
}

type tamperedDerived struct {
	store.Derived
	get tampered
}

func (d tamperedDerived) Iterate(
	ctx context.Context, from ipld.CID, fn func(store.Block) error,
) error {
	return d.get.Iterate(ctx, from, fn)
}

func (d tamperedDerived) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	return d.get.Get(ctx, c)
}

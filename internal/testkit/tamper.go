package testkit

import (
	"context"
	"sync"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Tamper is a store that answers Get and Iterate as a lying disk would: Lie, if it is given, is
// asked about every block read, facts and derived, and what it returns is what the caller gets; a
// block it returns an error for is not iterated over. The blocks stay as they are, and nothing
// verifies what Lie returns. Safe for concurrent use as long as
// nobody sets Lie meanwhile and Lie is.
type Tamper struct {
	store.Store
	Lie func(c ipld.CID, data []byte) ([]byte, error)

	mu   sync.Mutex
	read []ipld.CID
	seen map[ipld.CID]bool
}

// NewTamper returns a store over another that tells the truth as yet.
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

// Derived returns what is derived, through Lie.
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

// Iterate calls fn with the blocks through Lie. It does not note what it reads.
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

package cache

import (
	"sync"
	"sync/atomic"
)

// Budget bounds the total size of several caches: if they exceed it, the largest shrinks. Each cache may also have
// its own limit. The nil Budget bounds nothing. Safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64

	mu      sync.Mutex // held by who makes room
	members []Member
}

// Member is a cache that shares a budget.
type Member interface {
	// Bytes returns approximately how many bytes are cached.
	Bytes() int64
	// Shed evicts about n bytes, least recently used first.
	Shed(n int64)
}

// shedShare is the fraction of a budget that Settle frees at least, so that not each new value causes another
// eviction.
const shedShare = 64

// NewBudget returns a budget of the given size in bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Join adds a member. Call it before the member is used.
func (b *Budget) Join(m Member) {
	if b != nil {
		b.members = append(b.members, m)
	}
}

// Note adds n, which may be negative, to the size of a member. It takes no lock.
func (b *Budget) Note(n int64) {
	if b != nil {
		b.used.Add(n)
	}
}

// Settle shrinks caches if the budget is exceeded. A member calls it after adding a value, without holding any of
// its own locks. If another goroutine is already shrinking caches it returns at once.
func (b *Budget) Settle() {
	if b == nil || b.used.Load() <= b.limit || !b.mu.TryLock() {
		return
	}
	defer b.mu.Unlock()
	for {
		over := b.used.Load() - b.limit
		if over <= 0 {
			return
		}
		var largest Member
		most := int64(0)
		for _, m := range b.members {
			if n := m.Bytes(); n > most {
				largest, most = m, n
			}
		}
		if largest == nil {
			return
		}
		largest.Shed(over + b.limit/shedShare)
	}
}

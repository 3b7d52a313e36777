package cache

import (
	"sync"
	"sync/atomic"
)

// Budget bounds what several caches keep together: where they have more, the largest gives way. What each
// has at most is its own matter. The nil Budget bounds nothing. Safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64

	mu      sync.Mutex // held by who makes room
	members []Member
}

// Member is a cache that has a part of a budget.
type Member interface {
	// Bytes returns about how many bytes are kept.
	Bytes() int64
	// Shed forgets about n bytes, what was not used for long first.
	Shed(n int64)
}

// roomShare is what share of a budget is made room for at least, so that not each value that comes sheds another.
const roomShare = 64

// NewBudget returns a budget of so many bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Join adds a member, before it is used.
func (b *Budget) Join(m Member) {
	if b != nil {
		b.members = append(b.members, m)
	}
}

// Note is told how many bytes a member keeps more, or fewer. It takes no lock.
func (b *Budget) Note(n int64) {
	if b != nil {
		b.used.Add(n)
	}
}

// Settle makes room where there is too much. A member calls it after it has taken something in, with none
// of its own locks held. Where another goroutine makes room it does not wait.
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
		largest.Shed(over + b.limit/roomShare)
	}
}

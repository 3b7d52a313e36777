// Package cache caches decoded values in memory, up to a number of bytes.
package cache

import (
	"sync"
	"sync/atomic"
)

// Overhead is the approximate size of an entry without its value, in bytes.
const Overhead = 200

// Cache maps keys to values and evicts in approximate LRU order (a clock), so that readers do not block each other.
// A key must always mean the same value. The zero Cache keeps nothing. Safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu    sync.RWMutex
	limit int64
	size  int64
	items map[K]*kept[K, V]
	order kept[K, V] // of a ring of all: next is the newest, last the oldest
	epoch int        // how often it was cleared

	budget *Budget // that it shares with others, nil for none
}

type kept[K comparable, V any] struct {
	key   K
	value V
	size  int64
	used  atomic.Bool // since eviction last looked

	next, last *kept[K, V] // the older one, and the newer one
}

// newest moves an item to the front.
func (c *Cache[K, V]) newest(item *kept[K, V]) {
	item.last, item.next = &c.order, c.order.next
	item.last.next, item.next.last = item, item
}

// remove removes an item from the order.
func (item *kept[K, V]) remove() { item.last.next, item.next.last = item.next, item.last }

// Init sets the approximate capacity in bytes. Call it before anything else.
func (c *Cache[K, V]) Init(limit int64) { c.limit = limit }

// Share makes the cache a member of a budget. Call it before the cache is used.
func (c *Cache[K, V]) Share(b *Budget) {
	c.budget = b
	b.Join(c)
}

// Get returns the cached value, and the epoch for AddSince.
func (c *Cache[K, V]) Get(key K) (value V, ok bool, epoch int) {
	c.mu.RLock()
	item, epoch := c.items[key], c.epoch
	c.mu.RUnlock()
	if item == nil {
		return value, false, epoch
	}
	if !item.used.Load() { // a write that others wait for
		item.used.Store(true)
	}
	return item.value, true, epoch
}

// AddSince adds a value of the given size that was read since an epoch, unless the cache was cleared since then or
// the value exceeds its capacity.
func (c *Cache[K, V]) AddSince(epoch int, key K, value V, size int64) {
	c.add(epoch, key, value, size)
	c.budget.Settle()
}

func (c *Cache[K, V]) add(epoch int, key K, value V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items[key] != nil || c.epoch != epoch || size+Overhead > c.limit {
		return
	}
	if c.items == nil {
		c.items = make(map[K]*kept[K, V])
		c.order.next, c.order.last = &c.order, &c.order
	}
	item := &kept[K, V]{key: key, value: value, size: size + Overhead}
	c.items[key] = item
	c.newest(item)
	before := c.size
	c.size += item.size
	c.evict(item, c.limit)
	c.budget.Note(c.size - before)
}

// Shed evicts about n bytes.
func (c *Cache[K, V]) Shed(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.size
	c.evict(nil, max(0, c.size-n))
	c.budget.Note(c.size - before)
}

// evict removes items until at most limit bytes are left. An item used since the clock last passed it is kept once
// more, as is the newest, but each only once: concurrent readers cannot keep evict from ending, and a value just
// read is not the first to go if all others are in use.
func (c *Cache[K, V]) evict(newest *kept[K, V], limit int64) {
	for turns := len(c.items); c.size > limit; turns-- {
		item := c.order.last
		item.remove()
		if (item.used.Swap(false) || item == newest) && turns > 0 {
			c.newest(item)
			continue
		}
		delete(c.items, item.key)
		c.size -= item.size
	}
}

// Clear removes everything, so that erased data does not stay.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.budget.Note(-c.size)
	c.size = 0
	c.epoch++
	clear(c.items)
	c.order.next, c.order.last = &c.order, &c.order
}

// Bytes returns approximately how many bytes are cached.
func (c *Cache[K, V]) Bytes() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.size
}

// Len returns how many values are cached.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.items)
}

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

// shedShare is the fraction of a budget that Settle frees at least, so that not each new value causes another eviction.
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

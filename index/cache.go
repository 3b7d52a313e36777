package index

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/mnem-project/mnem/ipld"
)

// Cache keeps decoded parts and segments. Those that were not used for long leave first, about
// (clock, not exact order), so that readers of what is there do not wait for each other. One cache
// may serve any number of indexes, which share segments. The zero Cache keeps nothing. Safe for
// concurrent use.
type Cache struct {
	mu    sync.RWMutex // items are read under it, all else is guarded by it
	limit int64
	size  int64
	items map[partKey]*list.Element
	order list.List // of *cached, the newest first
}

// partKey names a part by its segment, section and number.
type partKey struct {
	segment ipld.CID
	section uint16
	number  int32
}

// Sections of partKey beside those of a segment: the segment itself, and directory blocks.
const (
	keySegment = sections
	keyDirs    = sections + 1
)

type cached struct {
	key   partKey
	value any
	size  int64
	used  atomic.Bool // since the cache last looked
}

// cacheOverhead is what an entry of the cache takes beside its value, in bytes.
const cacheOverhead = 200

// NewCache returns a cache of about limit bytes.
func NewCache(limit int64) *Cache { return &Cache{limit: limit} }

func (c *Cache) get(k partKey) (any, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.items[k]
	if !ok {
		return nil, false
	}
	item := e.Value.(*cached)
	if !item.used.Load() {
		item.used.Store(true)
	}
	return item.value, true
}

func (c *Cache) add(k partKey, value any, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[k]; ok || int64(size)+cacheOverhead > c.limit {
		return
	}
	if c.items == nil {
		c.items = make(map[partKey]*list.Element)
	}
	item := &cached{key: k, value: value, size: int64(size) + cacheOverhead}
	c.size += item.size
	c.evict()
	c.items[k] = c.order.PushFront(item)
}

// evict makes room. What was used since it was last looked at gets another turn.
func (c *Cache) evict() {
	for c.size > c.limit {
		oldest := c.order.Back()
		item := oldest.Value.(*cached)
		if item.used.Swap(false) { // nobody reads while this is written: no more than one turn each
			c.order.MoveToFront(oldest)
			continue
		}
		c.order.Remove(oldest)
		delete(c.items, item.key)
		c.size -= item.size
	}
}

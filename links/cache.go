package links

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/mnem-project/mnem/ipld"
)

// Cache keeps parts and directories; those that were not used for long leave first, about (clock,
// not exact order), so that readers do not wait for each other. One cache may serve any number of
// indexes, which share segments. The zero Cache keeps nothing. Safe for concurrent use.
type Cache struct {
	mu    sync.RWMutex
	limit int64
	size  int64
	items map[ipld.CID]*list.Element
	order list.List // of *cached, the newest first
}

type cached struct {
	cid   ipld.CID
	value any
	size  int64
	used  atomic.Bool // since eviction last looked
}

// cacheOverhead is what an entry of the cache takes beside its value, in bytes.
const cacheOverhead = 200

// NewCache returns a cache of about limit bytes.
func NewCache(limit int64) *Cache { return &Cache{limit: limit} }

// get returns what is kept, nil for nothing.
func (c *Cache) get(key ipld.CID) any {
	c.mu.RLock()
	e := c.items[key]
	c.mu.RUnlock()
	if e == nil {
		return nil
	}
	item := e.Value.(*cached)
	if !item.used.Load() {
		item.used.Store(true)
	}
	return item.value
}

func (c *Cache) add(key ipld.CID, value any, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; ok || int64(size)+cacheOverhead > c.limit {
		return
	}
	if c.items == nil {
		c.items = make(map[ipld.CID]*list.Element)
	}
	item := &cached{cid: key, value: value, size: int64(size) + cacheOverhead}
	c.items[key] = c.order.PushFront(item)
	c.size += item.size
	c.evict()
}

// evict makes room. What was used since it was last looked at gets another turn, each once.
func (c *Cache) evict() {
	for turns := c.order.Len(); c.size > c.limit; turns-- {
		oldest := c.order.Back()
		item := oldest.Value.(*cached)
		if item.used.Swap(false) && turns > 0 {
			c.order.MoveToFront(oldest)
			continue
		}
		c.order.Remove(oldest)
		delete(c.items, item.cid)
		c.size -= item.size
	}
}

package index

import (
	"container/list"
	"sync"

	"github.com/mnem-project/mnem/ipld"
)

// Cache keeps decoded parts and segments, the least recently used leaving first. One cache may
// serve any number of indexes, which share segments. The zero Cache keeps nothing. Safe for
// concurrent use.
type Cache struct {
	mu    sync.Mutex
	limit int64
	size  int64
	items map[partKey]*list.Element
	order list.List // of *cached, the most recently used first
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
}

// cacheOverhead is what an entry of the cache takes beside its value, in bytes.
const cacheOverhead = 200

// NewCache returns a cache of about limit bytes.
func NewCache(limit int64) *Cache { return &Cache{limit: limit} }

func (c *Cache) get(k partKey) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[k]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).value, true
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
	c.items[k] = c.order.PushFront(item)
	c.size += item.size
	for c.size > c.limit {
		last := c.order.Remove(c.order.Back()).(*cached)
		delete(c.items, last.key)
		c.size -= last.size
	}
}

package dense

import (
	"container/list"
	"sync"

	"github.com/mnem-project/mnem/ipld"
)

// Cache keeps parts of indexes, the least recently used leaving first. One cache may serve any
// number of indexes, which share segments. The zero Cache keeps nothing. Safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	limit int64
	size  int64
	items map[ipld.CID]*list.Element
	order list.List // of *cached, the most recently used first
	epoch int       // how often it was cleared
}

type cached struct {
	cid   ipld.CID
	value any
	size  int64
}

// cacheOverhead is what an entry of the cache takes beside its value, in bytes.
const cacheOverhead = 200

// NewCache returns a cache of about limit bytes.
func NewCache(limit int64) *Cache { return &Cache{limit: limit} }

// get returns what is kept, and the epoch, which add wants to know.
func (c *Cache) get(key ipld.CID) (value any, epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		return nil, c.epoch
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).value, c.epoch
}

// add keeps what was read since an epoch, unless the cache was cleared meanwhile.
func (c *Cache) add(key ipld.CID, value any, size, epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.items[key]
	if known || c.epoch != epoch || int64(size)+cacheOverhead > c.limit {
		return
	}
	if c.items == nil {
		c.items = make(map[ipld.CID]*list.Element)
	}
	item := &cached{cid: key, value: value, size: int64(size) + cacheOverhead}
	c.items[key] = c.order.PushFront(item)
	c.size += item.size
	for c.size > c.limit {
		last := c.order.Remove(c.order.Back()).(*cached)
		delete(c.items, last.cid)
		c.size -= last.size
	}
}

// Clear forgets everything: what was erased must not stay.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size = 0
	c.epoch++
	clear(c.items)
	c.order.Init()
}

// Bytes returns about how many bytes are kept.
func (c *Cache) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

package prolly

import (
	"container/list"
	"sync"

	"github.com/mnem-project/mnem/ipld"
)

// cacheShards spreads locks. It is a power of two, small enough that a shard of a modest cache
// still holds the largest chunk.
const cacheShards = 8

// Cache keeps decoded chunks, the least recently used ones leaving first. It is safe for
// concurrent use and may be shared by any number of Nodes: a CID means the same chunk everywhere.
type Cache struct{ shards [cacheShards]shard }

type shard struct {
	mu    sync.Mutex
	free  int64 // bytes left
	order list.List
	at    map[ipld.CID]*list.Element
}

// NewCache returns a cache of about so many bytes. With less than a few kilobytes it keeps nothing.
func NewCache(bytes int64) *Cache {
	c := &Cache{}
	for i := range c.shards {
		c.shards[i].free = bytes / cacheShards
		c.shards[i].at = map[ipld.CID]*list.Element{}
	}
	return c
}

func (c *Cache) shard(id ipld.CID) *shard {
	digest := id.Digest()
	return &c.shards[digest[0]%cacheShards]
}

func (c *Cache) get(id ipld.CID) *chunk {
	if c == nil {
		return nil
	}
	s := c.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.at[id]
	if e == nil {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(*chunk)
}

func (c *Cache) put(ch *chunk) {
	if c == nil {
		return
	}
	s := c.shard(ch.cid)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at[ch.cid] != nil {
		return
	}
	s.at[ch.cid] = s.order.PushFront(ch)
	s.free -= ch.memory
	for s.free < 0 {
		oldest := s.order.Back()
		gone := s.order.Remove(oldest).(*chunk)
		delete(s.at, gone.cid)
		s.free += gone.memory
	}
}

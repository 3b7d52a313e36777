package prolly

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/ipld"
)

// cacheShards spreads locks. It is a power of two, small enough that a shard of a modest cache
// still holds the largest chunk.
const cacheShards = 8

// Cache keeps decoded chunks; those that were not used for long leave first, about (clock, not
// exact order). It is safe for concurrent use and may be shared by any number of Nodes: a CID means
// the same chunk everywhere.
type Cache struct {
	shards [cacheShards]shard
	budget *cache.Budget // that it shares with others, nil for none
}

type shard struct {
	mu    sync.Mutex
	limit int64
	free  int64     // bytes left
	order list.List // of *cached, the newest first
	at    map[ipld.CID]*list.Element
}

// cached is a chunk's place in a cache. Chunks point to the places of their children, so that a walk
// down what is cached takes no lock and looks nothing up. A place outlives its chunk: then it is empty.
type cached struct {
	chunk atomic.Pointer[chunk]
	used  atomic.Bool // since the cache last looked
}

// get returns the chunk, nil once it left the cache.
func (p *cached) get() *chunk {
	if p == nil {
		return nil
	}
	c := p.chunk.Load()
	if c != nil && !p.used.Load() {
		p.used.Store(true)
	}
	return c
}

// NewCache returns a cache of about so many bytes. With less than a few kilobytes it keeps nothing.
func NewCache(bytes int64) *Cache {
	c := &Cache{}
	for i := range c.shards {
		c.shards[i].limit = bytes / cacheShards
		c.shards[i].free = c.shards[i].limit
		c.shards[i].at = map[ipld.CID]*list.Element{}
	}
	return c
}

// Share makes the cache a member of a budget. It is called before the cache is used.
func (c *Cache) Share(b *cache.Budget) {
	c.budget = b
	b.Join(c)
}

// Bytes returns about how many bytes are kept.
func (c *Cache) Bytes() (n int64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += s.limit - s.free
		s.mu.Unlock()
	}
	return n
}

// Shed forgets about n bytes.
func (c *Cache) Shed(n int64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		before := s.free
		s.evict(min(s.limit, s.free+n/cacheShards+1))
		c.budget.Note(before - s.free)
		s.mu.Unlock()
	}
}

func (c *Cache) shard(id ipld.CID) *shard {
	digest := id.Digest()
	return &c.shards[digest[0]%cacheShards]
}

// get returns the place of a chunk that is in the cache, else nil.
func (c *Cache) get(id ipld.CID) *cached {
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
	return e.Value.(*cached)
}

// put takes a chunk in and returns its place, nil without a cache.
func (c *Cache) put(ch *chunk) *cached {
	if c == nil {
		return nil
	}
	p := c.keep(ch)
	c.budget.Settle()
	return p
}

func (c *Cache) keep(ch *chunk) *cached {
	s := c.shard(ch.cid)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at[ch.cid]; e != nil {
		return e.Value.(*cached)
	}
	ch.home = c
	p := &cached{}
	p.chunk.Store(ch)
	s.at[ch.cid] = s.order.PushFront(p)
	before := s.free
	s.free -= ch.memory
	s.evict(0)
	c.budget.Note(before - s.free)
	return p
}

// evict makes room, so that free bytes are left. What was used since it was last looked at gets another
// turn, each once: readers that are busy meanwhile cannot keep this from ending.
func (s *shard) evict(free int64) {
	for turns := s.order.Len(); s.free < free; turns-- {
		oldest := s.order.Back()
		p := oldest.Value.(*cached)
		if p.used.Swap(false) && turns > 0 {
			s.order.MoveToFront(oldest)
			continue
		}
		s.order.Remove(oldest)
		gone := p.chunk.Swap(nil)
		delete(s.at, gone.cid)
		s.free += gone.memory
	}
}

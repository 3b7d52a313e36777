package prolly

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/ipld"
)

// cacheShards is the number of locks. It is a power of two, and small enough that a shard of a modest cache still
// holds the largest chunk.
const cacheShards = 8

// Cache keeps decoded chunks and evicts them in approximate LRU order (a clock). It is safe for concurrent use, and
// any number of Nodes may share it: a CID names the same chunk everywhere.
type Cache struct {
	shards [cacheShards]shard
	budget *cache.Budget // shared with other caches, or nil
}

type shard struct {
	mu    sync.Mutex
	limit int64
	free  int64     // bytes left
	order list.List // of *cached, newest first
	at    map[ipld.CID]*list.Element
}

// cached is a cache entry. Chunks point to the entries of their children, so walking cached chunks takes no lock
// and no lookup. An entry whose chunk was evicted is empty.
type cached struct {
	chunk atomic.Pointer[chunk]
	used  atomic.Bool // since the clock last passed
}

// get returns the chunk, or nil after it was evicted.
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

// NewCache returns a cache of about the given size in bytes. Below a few kilobytes it keeps nothing.
func NewCache(bytes int64) *Cache {
	c := &Cache{}
	for i := range c.shards {
		c.shards[i].limit = bytes / cacheShards
		c.shards[i].free = c.shards[i].limit
		c.shards[i].at = map[ipld.CID]*list.Element{}
	}
	return c
}

// Share makes the cache a member of a budget. Call it before the cache is used.
func (c *Cache) Share(b *cache.Budget) {
	c.budget = b
	b.Join(c)
}

// Bytes returns approximately how many bytes are cached.
func (c *Cache) Bytes() (n int64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += s.limit - s.free
		s.mu.Unlock()
	}
	return n
}

// Shed evicts about n bytes.
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

// get returns the entry of a cached chunk, or nil.
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

// put caches a chunk and returns its entry, or nil if c is nil.
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

// evict removes chunks until free bytes are available. A chunk used since the clock last passed it is kept once
// more, but only once, so concurrent readers cannot keep evict from ending.
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

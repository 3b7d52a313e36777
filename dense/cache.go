package dense

import (
	"github.com/mnem-project/mnem/internal/cache"
	"github.com/mnem-project/mnem/ipld"
)

// Cache keeps parts of indexes. One cache may serve any number of indexes, which share segments. The zero Cache
// keeps nothing. Safe for concurrent use.
type Cache struct{ cache.Cache[ipld.CID, any] }

// NewCache returns a cache of about limit bytes.
func NewCache(limit int64) *Cache {
	c := &Cache{}
	c.Init(limit)
	return c
}

package index

import (
	"github.com/mnem-project/mnem/internal/cache"
	"github.com/mnem-project/mnem/ipld"
)

// Cache keeps decoded parts and segments. One cache may serve any number of indexes, which share
// segments. The zero Cache keeps nothing. Safe for concurrent use.
type Cache struct{ cache.Cache[partKey, any] }

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

// NewCache returns a cache of about limit bytes.
func NewCache(limit int64) *Cache {
	c := &Cache{}
	c.Init(limit)
	return c
}

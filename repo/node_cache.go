package repo

import (
	"context"

	"github.com/mnem-project/mnem/internal/cache"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// nodeCacheBytes bounds the blocks of nodes that are kept between retrievals. Those with most edges are read again
// and again: the store takes as long for each as decoding ten.
const nodeCacheBytes = 2 << 20

// keptNodes reads the blocks of nodes through a cache.
type keptNodes struct {
	store.Getter
	kept *cache.Cache[ipld.CID, []byte]
}

// Get returns a block, which must not be changed.
func (k keptNodes) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, ok, epoch := k.kept.Get(c)
	if ok {
		return data, nil
	}
	data, err := k.Getter.Get(ctx, c)
	if err == nil {
		k.kept.AddSince(epoch, c, data, int64(len(data)))
	}
	return data, err
}

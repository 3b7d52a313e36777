package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// linked reads blocks that something links to: where one is missing, the repository is damaged.
type linked struct{ store.Blocks }

// Get returns a block. A missing one is an error that wraps store.ErrCorrupt.
func (l linked) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := l.Blocks.Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("%w: block %s is missing", store.ErrCorrupt, c)
	}
	return data, err
}

// facts are the fact blocks, read as linked ones.
func (r *Repo) facts() store.Blocks { return linked{r.store.Facts()} }

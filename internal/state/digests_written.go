package state

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/store"
)

func ReadText(ctx context.Context, get store.Getter, item []byte) (*distill.Written, error) {
	c, err := LinkItem(item)
	if err != nil {
		return nil, err
	}
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", distill.KindWritten, c, err)
	}
	w, err := distill.DecodeWritten(block)
	if err != nil {
		err = fmt.Errorf("read %s %s: %w: %w", distill.KindWritten, c, store.ErrCorrupt, err)
	}
	return w, err
}

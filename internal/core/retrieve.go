package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// maxRetries bounds how often a retrieval begins again because its index was dropped.
const maxRetries = 8

// WithIndex calls fn with the snapshot's index, and again where a purge dropped it meanwhile.
func (s *Snapshot) WithIndex(ctx context.Context, fn func(*index.Index) error) error {
	x, err := s.index(ctx)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		err := fn(x)
		var missing *state.MissingError
		if !errors.As(err, &missing) && !errors.Is(err, retrieve.ErrNoNode) {
			return err
		}
		again, indexErr := s.index(ctx)
		if indexErr != nil || again == x || attempt == maxRetries { // nothing was dropped: it is damage
			if missing == nil {
				err = fmt.Errorf("%w: %w", store.ErrCorrupt, err)
			}
			return err
		}
		x = again
	}
}

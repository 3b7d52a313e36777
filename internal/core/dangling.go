package core

import (
	"context"

	"github.com/mnem-project/mnem/internal/state"
)

// WriteGraph writes the graph record of a state and sets its root.
func (t *Tx) WriteGraph(ctx context.Context, s *state.State) (err error) {
	g := s.Record()
	if err := g.Validate(); err != nil {
		return err
	}
	s.Root, err = t.Put(ctx, g.Encode())
	return err
}

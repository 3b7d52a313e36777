package pebble

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/ipld"
)

// Check calls fn with every fault around the blocks: keys that belong to nothing, cells that hold
// no CID, and damaged slots of the head file. Blocks are not looked into: Iterate shows them. fn
// may return an error to end the check, which Check returns.
func (s *Store) Check(ctx context.Context, fn func(message string) error) error {
	err := s.Keys(ctx, func(e Entry) error {
		if e.Space == Unknown {
			return fn(fmt.Sprintf("key %x belongs to nothing", e.Key[:min(len(e.Key), 64)]))
		}
		if e.Space == Cells {
			if _, err := ipld.CIDFromBytes(e.Value); err != nil {
				return fn(fmt.Sprintf("cell of %s: %v", e.CID, err))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slots, err := HeadFile(s.dir, s.opts.FS)
	if err != nil {
		return err
	}
	for i, slot := range slots.Slot {
		if slot.Damaged {
			if err := fn(fmt.Sprintf("head file: slot %d is damaged", i)); err != nil {
				return err
			}
		}
	}
	return nil
}

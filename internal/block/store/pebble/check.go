package pebble

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Check calls fn with every fault apart from the blocks' contents: keys of no known form, cells that hold no CID,
// blocks that are present although redacted, a missing format record, and damaged slots of the head file and of the
// marker. If each is not nil, it is called with the blocks that Iterate shows, derived ones and facts separately,
// both in order. fn and each may return an error to end the check, which Check returns.
func (s *Store) Check(
	ctx context.Context, each func(b store.Block, derived bool) error, fn func(message string) error,
) error {
	redacted := *s.redacted.Load()
	operations, format := false, false
	err := s.Keys(ctx, func(e RawEntry) error {
		switch e.Space {
		case Unknown:
			return fn(fmt.Sprintf("key %x belongs to nothing", e.Key[:min(len(e.Key), 64)]))
		case Cells:
			if _, err := ipld.CIDFromBytes(e.Value); err != nil {
				return fn(fmt.Sprintf("cell of %s: %v", e.CID, err))
			}
		case Facts, Derived:
			if open, gone := redacted[e.CID]; gone && !open {
				if err := fn(fmt.Sprintf("block %s is there, though it is redacted", e.CID)); err != nil {
					return err
				}
			}
			if each != nil {
				return each(store.Block{CID: e.CID, Data: e.Value}, e.Space == Derived)
			}
		case Head:
			operations = true
		case Format:
			format = true
		}
		return nil
	})
	if err == nil && operations && !format {
		err = fn("no format record")
	}
	if err != nil {
		return err
	}
	for _, kind := range []slotKind{headSlots, markerSlots} {
		slots, err := readSlots(s.fs, s.dir, kind)
		if err != nil {
			return err
		}
		for i, slot := range slots.Slot {
			if slot.Damaged {
				if err := fn(fmt.Sprintf("%s: slot %d is damaged", kind.what, i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

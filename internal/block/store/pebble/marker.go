package pebble

import "github.com/mnem-project/mnem/internal/block/store"

const (
	markerName  = "marker"
	markerMagic = "mnemmark"
)

// checkMarker compares the head file with the marker, by the rules in the package comment.
func checkMarker(stored store.Head, slots, marker Slots) error {
	newest, vouched := slots.Newest(), marker.Newest()
	fail := func(reason string) error {
		return &HeadError{Acknowledged: vouched, Stored: stored, Reason: reason}
	}
	switch {
	case !marker.Exists:
		return nil
	case newest.Seq == 0:
		return fail("operations were acknowledged, as the marker says, and the head file is missing or damaged")
	case newest.Seq < vouched.Seq:
		return fail("the head file is older than the marker")
	case newest.Seq == vouched.Seq && newest != vouched:
		return fail("the head file and the marker name different operations")
	}
	return nil
}

// loadMarker takes over the marker file, and repairs one with a torn slot.
func (s *Store) loadMarker(marker Slots) error {
	s.vouched, s.marked = marker.Newest(), marker.Exists
	if s.reading() || !marker.Slot[0].Damaged && !marker.Slot[1].Damaged {
		return nil
	}
	return s.remark(s.head)
}

// remark makes h the only operation that the marker names; if h is zero it removes the marker.
func (s *Store) remark(h store.Head) error {
	if h.Seq == 0 {
		s.marked = false
		return removeIfThere(s.fs, s.fs.PathJoin(s.dir, markerName))
	}
	if err := s.marker.rewrite(h); err != nil {
		return err
	}
	s.vouched, s.marked = h, true
	return nil
}

// mark writes the marker of a store that has none, once the first head is durable. syncs must be held.
func (s *Store) mark(h store.Head) error {
	if s.marked {
		return nil
	}
	if err := s.marker.write(h); err != nil {
		return err
	}
	s.vouched, s.marked = h, true
	return nil
}

// markEnd writes the last operation to the marker when the store is closed. It is not synced: after a power cut the
// marker may name an earlier operation.
func (s *Store) markEnd() {
	if h := s.durable(); !s.reading() && s.marked && h.Seq > s.vouched.Seq {
		if err := s.marker.set(h); err != nil {
			s.opts.Logf("%v", err) // the marker still names an earlier operation
		}
	}
}

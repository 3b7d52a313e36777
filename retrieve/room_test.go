package retrieve

import "testing"

// TestStretches: lists do not overlap, are empty again after clear, and take no more memory then.
func TestStretches(t *testing.T) {
	var s stretches[int]
	lengths := []int{3, 0, edgeRoom - 2, 1, 2 * edgeRoom, 5, edgeRoom}
	fill := func() {
		var lists [][]int
		for at, n := range lengths {
			list := s.take(n)
			if len(list) != 0 || cap(list) != n {
				t.Fatalf("list %d has %d of %d, want none of %d", at, len(list), cap(list), n)
			}
			for _, old := range list[:n] {
				if old != 0 {
					t.Fatalf("list %d has what another had", at)
				}
			}
			for range n {
				list = append(list, at+1)
			}
			lists = append(lists, list)
		}
		for at, list := range lists {
			for _, x := range list {
				if x != at+1 {
					t.Fatalf("list %d has what list %d has", at, x-1)
				}
			}
		}
	}
	fill()
	s.clear()
	fill()
	s.clear()
	if n := testing.AllocsPerRun(5, func() { _, _ = s.take(edgeRoom), s.take(7); s.clear() }); n > 0 {
		t.Errorf("%v allocations where there is room", n)
	}
	for range 3 * maxStretches {
		s.take(edgeRoom)
	}
	s.clear()
	if len(s.chunks) > maxStretches {
		t.Errorf("%d chunks are kept, limit %d", len(s.chunks), maxStretches)
	}
}

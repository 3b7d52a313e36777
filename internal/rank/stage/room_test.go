package stage

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestAnswersOutliveTheirRoom: what an answer has does not change as later retrievals work in the same memory.
func TestAnswersOutliveTheirRoom(t *testing.T) {
	m := newMemory()
	for i := range 40 {
		m.add(graph.Node{ID: num(i), Type: "T", Summary: fmt.Sprintf("alice w%d", i), Context: fmt.Sprintf("bob w%d", i%7)})
		if i > 0 {
			m.link(num(i), "e", num(i/2), 65_536)
		}
	}
	ask := func(text string) *retrieve.Answer {
		a, err := Runner{}.Run(t.Context(), m, m, testCommit, retrieve.Request{Text: text,
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(int)}}) // nothing else adds lanes
		if err != nil || len(a.Items) == 0 || len(a.Items[0].Lanes) == 0 || a.Items[0].Lanes[0].Rank != 1 {
			t.Fatalf("%q: %+v, %v", text, a, err)
		}
		return a
	}
	first := ask("alice w3")
	was := fmt.Sprintf("%+v", first.Items)
	for i := range 20 {
		ask(fmt.Sprintf("bob w%d", i%7))
	}
	if is := fmt.Sprintf("%+v", first.Items); is != was {
		t.Errorf("items were\n%s\nand are\n%s", was, is)
	}
}

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
				must.Equal(t, old, 0, "list ", at, " has what another had")
			}
			for range n {
				list = append(list, at+1)
			}
			lists = append(lists, list)
		}
		for at, list := range lists {
			for _, x := range list {
				must.Equal(t, x, at+1, "list ", at, " has what list ", x-1, " has")
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

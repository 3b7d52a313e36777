package reading

import (
	"container/heap"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// Bounds of a page: a sorted list of any length is read page by page, once through the tree for
// each, so that memory stays bounded.
const (
	maxPageRows  = 1 << 16
	maxPageBytes = 16 << 20 // of the values that it is sorted by
)

// page gathers the first places of an order behind one place. It keeps them in a heap whose top is
// the last of them.
type page struct {
	order sortSpec
	after *sortedRow
	room  int
	heap  placeHeap
	bytes int
	cut   bool       // whether places were left out
	end   *sortedRow // the first of those: what is not before it is left out too
}

// newPage returns an empty page of at most room places.
func newPage(order sortSpec, after *sortedRow, room int) *page {
	return &page{order: order, after: after, room: room, heap: placeHeap{order: order}}
}

// add takes a place in if it belongs to the page.
func (p *page) add(at sortedRow) {
	if p.after != nil && p.order.compare(at, *p.after) <= 0 {
		return
	}
	if p.end != nil && p.order.compare(at, *p.end) >= 0 {
		return
	}
	heap.Push(&p.heap, at)
	p.bytes += valueSize(at.value)
	for len(p.heap.list) > p.room || p.bytes > maxPageBytes && len(p.heap.list) > 1 {
		last, _ := heap.Pop(&p.heap).(sortedRow)
		p.bytes -= valueSize(last.value)
		p.end, p.cut = &last, true
	}
}

// places returns the page in order.
func (p *page) places() []sortedRow {
	slices.SortFunc(p.heap.list, p.order.compare)
	return p.heap.list
}

// valueSize estimates the memory of a value.
func valueSize(v *ipld.Value) int {
	const fixed = 64
	if v == nil {
		return fixed
	}
	switch v.Kind() {
	case ipld.String, ipld.Bytes:
		return fixed + len(v.Text())
	case ipld.List, ipld.Map:
		return fixed + 8*len(ipld.AppendValue(nil, *v))
	}
	return fixed
}

// placeHeap is a heap.Interface with the last place on top.
type placeHeap struct {
	order sortSpec
	list  []sortedRow
}

func (h *placeHeap) Len() int           { return len(h.list) }
func (h *placeHeap) Less(i, j int) bool { return h.order.compare(h.list[i], h.list[j]) > 0 }
func (h *placeHeap) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }

// Push adds a place.
func (h *placeHeap) Push(x any) {
	if p, ok := x.(sortedRow); ok {
		h.list = append(h.list, p)
	}
}

// Pop removes the last place of the list.
func (h *placeHeap) Pop() any {
	last := len(h.list) - 1
	p := h.list[last]
	h.list = h.list[:last]
	return p
}

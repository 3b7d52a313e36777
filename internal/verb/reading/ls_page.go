package reading

import (
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// Bounds of a page: a sorted list of any length is read page by page, once through the tree for
// each, so that memory stays bounded.
const (
	maxPageRows  = 1 << 16
	maxPageBytes = 16 << 20 // of the values that it is sorted by
)

// page gathers the first places of an order after one place. Whenever it has twice its room, it drops those that
// cannot be among them.
type page struct {
	order sortSpec
	after *sortedRow
	room  int
	list  []sortedRow
	bytes int
	cut   bool       // whether places were left out
	end   *sortedRow // the first of those: what is not before it is left out too
}

// newPage returns an empty page of at most room places.
func newPage(order sortSpec, after *sortedRow, room int) *page {
	return &page{order: order, after: after, room: room}
}

// add takes a place in if it may belong to the page.
func (p *page) add(at sortedRow) {
	if p.after != nil && p.order.compare(at, *p.after) <= 0 || p.end != nil && p.order.compare(at, *p.end) >= 0 {
		return
	}
	p.list = append(p.list, at)
	if p.bytes += valueSize(at.value); len(p.list) > 2*p.room || p.bytes > 2*maxPageBytes {
		p.places()
	}
}

// places returns the page in order.
func (p *page) places() []sortedRow {
	slices.SortFunc(p.list, p.order.compare)
	n, size := 0, 0
	for n < min(len(p.list), p.room) && (n == 0 || size+valueSize(p.list[n].value) <= maxPageBytes) {
		size += valueSize(p.list[n].value)
		n++
	}
	if n < len(p.list) {
		end := p.list[n]
		p.end, p.cut = &end, true
		clear(p.list[n:])
	}
	p.list, p.bytes = p.list[:n], size
	return p.list
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

// Package heap implements binary heaps in slices. after reports whether one element ranks after another; the
// last-ranked element is the root, at index 0.
package heap

// Down moves the element at i down to its position.
func Down[T any](heap []T, i int, after func(a, b T) bool) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && after(heap[child+1], heap[child]) {
			child++
		}
		if !after(heap[child], heap[i]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// Up moves the last element up to its position.
func Up[T any](heap []T, after func(a, b T) bool) {
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !after(heap[i], heap[parent]) {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

// Push adds an element.
func Push[T any](heap *[]T, v T, after func(a, b T) bool) {
	*heap = append(*heap, v)
	Up(*heap, after)
}

// Pop removes and returns the root.
func Pop[T any](heap *[]T, after func(a, b T) bool) T {
	list := *heap
	root, last := list[0], len(list)-1
	list[0] = list[last]
	clear(list[last:])
	*heap = list[:last]
	Down(*heap, 0, after)
	return root
}

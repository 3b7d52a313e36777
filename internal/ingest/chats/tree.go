package chats

import "slices"

// tree is a conversation whose messages may have been answered more than once: of its ways one is the current one.
type tree struct {
	parent   map[string]string
	children map[string][]string
	ids      []string // in the order of the file
	current  map[string]bool
}

func newTree() *tree {
	return &tree{parent: make(map[string]string), children: make(map[string][]string), current: make(map[string]bool)}
}

// add takes a message. It is false for one that is there.
func (t *tree) add(id, parent string) bool {
	if _, has := t.parent[id]; has {
		return false
	}
	t.parent[id] = parent
	t.ids = append(t.ids, id)
	t.children[parent] = append(t.children[parent], id)
	return true
}

// leadTo makes the way from the root to a message the current one.
func (t *tree) leadTo(id string) {
	for t.has(id) && !t.current[id] {
		t.current[id] = true
		id = t.parent[id]
	}
}

func (t *tree) has(id string) bool {
	_, has := t.parent[id]
	return has
}

// left reports whether the conversation went another way.
func (t *tree) left(id string) bool { return len(t.current) > 0 && !t.current[id] }

// order returns the messages from the roots on, each after its parent, those of the current way before others. What no
// root leads to, as messages in a circle, comes last.
func (t *tree) order() []string {
	var todo []string
	for _, id := range t.ids {
		if !t.has(t.parent[id]) {
			todo = append(todo, id)
		}
	}
	slices.Reverse(todo)
	out := make([]string, 0, len(t.ids))
	seen := make(map[string]bool)
	for rest := t.ids; ; {
		for len(todo) > 0 {
			id := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[id] {
				continue
			}
			seen[id] = true
			out = append(out, id)
			for _, now := range []bool{false, true} {
				for _, child := range slices.Backward(t.children[id]) {
					if t.current[child] == now {
						todo = append(todo, child)
					}
				}
			}
		}
		for len(rest) > 0 && seen[rest[0]] {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return out
		}
		todo = append(todo, rest[0])
	}
}

// fill gives each message without a time that of the nearest before it that has one, else of the nearest after it.
func (t *tree) fill(times map[string]int64) {
	order := t.order()
	for _, id := range order {
		if times[id] == 0 {
			times[id] = times[t.parent[id]]
		}
	}
	for _, id := range slices.Backward(order) {
		if up := t.parent[id]; times[up] == 0 {
			times[up] = times[id]
		}
	}
}

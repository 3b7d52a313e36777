package prolly

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// cursor is a path from the root to one entry of one level. Moves read at most one chunk a level.
type cursor struct {
	nodes *Nodes
	level int // of the chunks it stops at
	path  []frame
}

type frame struct {
	c *chunk
	i int
}

// newCursor returns a cursor before the first seek. The tree must reach up to level.
func newCursor(m *Map, level int) *cursor {
	path := make([]frame, 1, m.root.level-level+1)
	path[0] = frame{c: m.root}
	return &cursor{nodes: m.nodes, level: level, path: path}
}

func (cu *cursor) clone() *cursor {
	out := *cu
	out.path = slices.Clone(cu.path)
	return &out
}

func (cu *cursor) top() *frame { return &cu.path[len(cu.path)-1] }

func (cu *cursor) chunk() *chunk { return cu.top().c }

// down follows links from the top frame to the cursor's level; pick chooses the entry in each chunk entered.
func (cu *cursor) down(ctx context.Context, pick func(*chunk) int) error {
	for cu.top().c.level > cu.level {
		c, err := cu.nodes.child(ctx, cu.top().c, cu.top().i)
		if err != nil {
			return err
		}
		cu.path = append(cu.path, frame{c, pick(c)})
	}
	return nil
}

// seek moves forward to the first entry whose key is not less than key, or behind the last entry if there is none.
// key must not be less than that of an earlier seek.
func (cu *cursor) seek(ctx context.Context, key []byte) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("read tree: %w", err)
	}
	for len(cu.path) > 1 && bytes.Compare(key, cu.chunk().lastKey()) > 0 {
		cu.path = cu.path[:len(cu.path)-1]
	}
	pick := func(c *chunk) int {
		i := c.find(key)
		if c.level > cu.level {
			i = min(i, len(c.keys)-1)
		}
		return i
	}
	cu.top().i = pick(cu.top().c)
	return cu.down(ctx, pick)
}

// move moves by 1 to the first entry of the next chunk, or by -1 to the last entry of the one before, and reports
// whether there is one; if not, the cursor stays.
func (cu *cursor) move(ctx context.Context, by int) (bool, error) {
	pick := func(c *chunk) int {
		if by > 0 {
			return 0
		}
		return len(c.keys) - 1
	}
	for d := len(cu.path) - 2; d >= 0; d-- {
		if i := cu.path[d].i + by; i >= 0 && i < len(cu.path[d].c.keys) {
			cu.path = cu.path[:d+1]
			cu.path[d].i = i
			return true, cu.down(ctx, pick)
		}
	}
	return false, nil
}

// isLast reports whether no chunk of the level comes after.
func (cu *cursor) isLast() bool {
	for _, f := range cu.path[:len(cu.path)-1] {
		if f.i+1 < len(f.c.keys) {
			return false
		}
	}
	return true
}

// before returns the last key of the previous chunk, or false if there is none. It reads nothing.
func (cu *cursor) before() ([]byte, bool) {
	for d := len(cu.path) - 2; d >= 0; d-- {
		if f := cu.path[d]; f.i > 0 {
			return f.c.keys[f.i-1], true
		}
	}
	return nil, false
}

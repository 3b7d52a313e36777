package prolly

import (
	"bytes"
	"context"
)

// Conflict is a key that both sides of a merge changed to different values. Nil means that the key is absent there.
type Conflict struct{ Key, Base, Left, Right []byte }

// Merge returns the tree that has, for each key, the value of the side that differs from base. For each conflict it
// calls resolve, in key order, on the calling goroutine; resolve returns the merged value (nil: absent), and its
// first error ends the merge and is returned unchanged. The three trees are walked in parallel; memory is
// proportional to the changes in right. The result is written through left's Nodes.
func Merge(ctx context.Context, base, left, right *Map, resolve func(Conflict) ([]byte, error)) (*Map, error) {
	m := merger{resolve: resolve}
	m.left.differ = newDiffer(ctx, base, left)
	m.right.differ = newDiffer(ctx, base, right)
	for {
		if err := m.left.fill(); err != nil {
			return nil, err
		}
		if err := m.right.fill(); err != nil {
			return nil, err
		}
		if !m.right.some {
			return left.Edit(ctx, m.edits)
		}
		if err := m.step(); err != nil {
			return nil, err
		}
	}
}

type merger struct {
	left, right side
	edits       []Edit // what to do to left
	resolve     func(Conflict) ([]byte, error)
}

// side is a cursor over one side's changes.
type side struct {
	*differ
	change Change
	some   bool
}

func (s *side) fill() (err error) {
	if !s.some {
		s.change, s.some, err = s.differ.next()
	}
	return err
}

// step takes the change with the smaller key, or both if the keys are equal. The right side must have one.
func (m *merger) step() error {
	l, r := m.left.change, m.right.change
	order := 1
	if m.left.some {
		order = bytes.Compare(l.Key, r.Key)
	}
	m.left.some = m.left.some && order > 0
	if order < 0 {
		return nil
	}
	m.right.some = false
	merged := r.New
	if order == 0 && !bytes.Equal(l.New, r.New) {
		var err error
		merged, err = m.resolve(Conflict{Key: r.Key, Base: l.Old, Left: l.New, Right: r.New})
		if err != nil {
			return err
		}
	}
	m.edits = append(m.edits, Edit{Key: r.Key, Value: merged})
	return nil
}

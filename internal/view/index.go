package view

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

// Opened are the newest used of what is derived, by what each is of, the most recent last.
type Opened[X any] struct{ list []opened[X] }

type opened[X any] struct {
	of ipld.CID
	x  X
}

// Get returns what was kept of a key and makes it the most recent.
func (o *Opened[X]) Get(of ipld.CID) (x X, ok bool) {
	i := slices.IndexFunc(o.list, func(e opened[X]) bool { return e.of == of })
	if i < 0 {
		return x, false
	}
	e := o.list[i]
	o.list = append(slices.Delete(o.list, i, i+1), e)
	return e.x, true
}

// Put keeps x as the most recent, in place of an earlier one of the same key, or of the least recent one if there are
// most.
func (o *Opened[X]) Put(of ipld.CID, x X, most int) {
	o.list = slices.DeleteFunc(o.list, func(e opened[X]) bool { return e.of == of })
	if len(o.list) == most {
		o.list = slices.Delete(o.list, 0, 1)
	}
	o.list = append(o.list, opened[X]{of, x})
}

// Clear drops all.
func (o *Opened[X]) Clear() { o.list = nil }

// Document returns a node with its whole content, nil if there is none: what was erased, or has
// content that was, is no document.
func Document(ctx context.Context, s *state.State, id graph.ID) (*index.Document, error) {
	item, _, err := s.Nodes.Get(ctx, id[:])
	if err != nil {
		return nil, err
	}
	d, err := readDocument(ctx, s, item)
	if err != nil {
		return nil, err
	}
	return completeDocument(ctx, s, d)
}

// IndexStats describes an index.
type IndexStats struct {
	Manifest ipld.CID // undefined if there is no index yet
	Segments int
	index.Stats
}

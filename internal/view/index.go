package view

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

// maxOpenIndexes bounds how many opened indexes a repository keeps.
const maxOpenIndexes = 8

// OpenIndexes are the newest used indexes of one kind by what they are of, the most recent last.
type OpenIndexes[X any] struct {
	of      []ipld.CID
	indexes []*X
}

// Get returns the open index of a cell's key and makes it the most recent, nil if it is not open.
func (o *OpenIndexes[X]) Get(of ipld.CID) *X {
	for i, c := range o.of {
		if c == of {
			x := o.indexes[i]
			o.of = append(append(o.of[:i], o.of[i+1:]...), of)
			o.indexes = append(append(o.indexes[:i], o.indexes[i+1:]...), x)
			return x
		}
	}
	return nil
}

// Put keeps an index that Get did not find, in place of the least recent one if maxOpenIndexes are open.
func (o *OpenIndexes[X]) Put(of ipld.CID, x *X) {
	if len(o.of) == maxOpenIndexes {
		o.of, o.indexes = o.of[1:], o.indexes[1:]
	}
	o.of, o.indexes = append(o.of, of), append(o.indexes, x)
}

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

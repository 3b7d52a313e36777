package repo

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
)

// overlay is a tree with edits not yet written: reads see the edits, flush writes them all at
// once, so that a batch rewrites each chunk it touches once.
type overlay struct {
	base  *prolly.Map
	edits map[string][]byte // nil value: absent
}

func newOverlay(base *prolly.Map) *overlay {
	return &overlay{base: base, edits: make(map[string][]byte)}
}

// get returns the value under key, nil where there is none.
func (o *overlay) get(ctx context.Context, key []byte) ([]byte, error) {
	if v, ok := o.edits[string(key)]; ok {
		return v, nil
	}
	v, _, err := o.base.Get(ctx, key)
	return v, err
}

func (o *overlay) has(ctx context.Context, key []byte) (bool, error) {
	v, err := o.get(ctx, key)
	return v != nil, err
}

func (o *overlay) set(key, value []byte) { o.edits[string(key)] = value }

func (o *overlay) setLink(key []byte, c ipld.CID) { o.set(key, ipld.AppendLink(nil, c)) }

func (o *overlay) remove(key []byte) { o.edits[string(key)] = nil }

// baseKeys yields the keys under prefix that the tree has and no edit removed. Keys that edits
// added are not among them.
func (o *overlay) baseKeys(ctx context.Context, prefix []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for kv, err := range o.base.ScanPrefix(ctx, prefix) {
			if err != nil {
				yield(nil, err)
				return
			}
			if v, ok := o.edits[string(kv.Key)]; ok && v == nil {
				continue
			}
			if !yield(kv.Key, nil) {
				return
			}
		}
	}
}

// flush writes the edits and returns the new tree.
func (o *overlay) flush(ctx context.Context) (*prolly.Map, error) {
	edits := make([]prolly.Edit, 0, len(o.edits))
	for _, key := range slices.Sorted(maps.Keys(o.edits)) {
		edits = append(edits, prolly.Edit{Key: []byte(key), Value: o.edits[key]})
	}
	return o.base.Edit(ctx, edits)
}

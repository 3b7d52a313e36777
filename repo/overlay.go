package repo

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
)

// overlay is a tree with edits not yet written: reads see the edits, flush writes them all at
// once, so that a batch rewrites each chunk it touches once.
type overlay struct {
	base  *prolly.Map
	edits editTable
	large []prolly.Edit // edits that no tree takes, for flush to refuse
}

func newOverlay(base *prolly.Map) *overlay { return &overlay{base: base} }

// get returns the value under key, nil where there is none. It is valid until the next set.
func (o *overlay) get(ctx context.Context, key []byte) ([]byte, error) {
	if v, ok := o.edits.get(key); ok {
		return v, nil
	}
	v, _, err := o.base.Get(ctx, key)
	return v, err
}

func (o *overlay) has(ctx context.Context, key []byte) (bool, error) {
	v, err := o.get(ctx, key)
	return v != nil, err
}

// set puts a value that is not empty under a key.
func (o *overlay) set(key, value []byte) {
	if !o.edits.set(key, value) {
		o.large = append(o.large, prolly.Edit{Key: bytes.Clone(key), Value: bytes.Clone(value)})
	}
}

func (o *overlay) setLink(key []byte, c ipld.CID) {
	var buf [64]byte
	o.set(key, ipld.AppendLink(buf[:0], c))
}

func (o *overlay) remove(key []byte) { o.edits.set(key, nil) }

// removed reports whether an edit removed the key, and none set it since.
func (o *overlay) removed(key []byte) bool {
	v, ok := o.edits.get(key)
	return ok && v == nil
}

// baseKeys yields the keys under prefix that the tree has and no edit removed. Keys that edits
// added are not among them.
func (o *overlay) baseKeys(ctx context.Context, prefix []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for kv, err := range o.base.ScanPrefix(ctx, prefix) {
			if err != nil {
				yield(nil, err)
				return
			}
			if o.removed(kv.Key) {
				continue
			}
			if !yield(kv.Key, nil) {
				return
			}
		}
	}
}

// flush writes the edits, which are gone then, and returns the new tree.
func (o *overlay) flush(ctx context.Context) (*prolly.Map, error) {
	if len(o.large) > 0 {
		return o.base.Edit(ctx, o.large[:len(o.large):len(o.large)])
	}
	edits := o.edits.sorted()
	o.edits = editTable{}
	if o.base.Len() == 0 {
		return o.base.Fill(ctx, edits)
	}
	return o.base.Edit(ctx, slices.Collect(edits))
}

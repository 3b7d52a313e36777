package links

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// Walk calls fn with the CID of every block of an index, the manifest first, parts after what links
// to them. It reads no parts. An error of fn ends the walk and is returned, but
// index.ErrSkipLinked: a manifest or segment for which fn returns that is not read.
func Walk(ctx context.Context, get store.Getter, c ipld.CID, fn func(ipld.CID) error) error {
	visit := func(c ipld.CID) (skip bool, err error) {
		if err = fn(c); errors.Is(err, index.ErrSkipLinked) {
			return true, nil
		}
		return false, err
	}
	if skip, err := visit(c); skip || err != nil {
		return err
	}
	m, err := readManifest(ctx, get, c)
	if err != nil {
		return err
	}
	r := &reader{get: get, cache: new(Cache)}
	for _, ref := range m.Segments {
		skip, err := visit(ref.CID)
		if err == nil && !skip {
			err = r.walk(ctx, ref.CID, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walk visits what a segment links to.
func (r *reader) walk(
	ctx context.Context, c ipld.CID, visit func(ipld.CID) (bool, error),
) error {
	s, err := r.segment(ctx, c)
	if err != nil {
		return err
	}
	for n, at := range s.dirs {
		for _, at := range []ipld.CID{at, s.sieves[n]} {
			if _, err := visit(at); err != nil {
				return err
			}
		}
		d, err := r.dir(ctx, s, n)
		if err != nil {
			return err
		}
		for i := range d.len() {
			at, err := d.part(i)
			if err == nil {
				_, err = visit(at)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

package dense

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
)

// Walk calls fn with the CID of every block of an index, the manifest first, parts after what links
// to them. It reads no parts. An error of fn ends the walk and is returned, but
// index.ErrSkipLinked: a manifest or segment for which fn returns that is not read. fn may be
// called twice with one CID.
func Walk(ctx context.Context, blocks Blocks, c ipld.CID, fn func(ipld.CID) error) error {
	visit := func(c ipld.CID) (skip bool, err error) {
		if err = fn(c); errors.Is(err, index.ErrSkipLinked) {
			return true, nil
		}
		return false, err
	}
	if skip, err := visit(c); skip || err != nil {
		return err
	}
	_, root, err := manifest(ctx, blocks, c)
	if err != nil {
		return err
	}
	groups, err := loadGroups(ctx, blocks, root)
	if err != nil {
		return err
	}
	err = groups.Walk(ctx, func(c ipld.CID, _ int) (bool, error) {
		_, err := visit(c)
		return true, err
	})
	if err != nil {
		return err
	}
	r := &reader{get: blocks, cache: new(Cache)}
	for kv, err := range groups.Scan(ctx, nil, nil) {
		if err != nil {
			return err
		}
		list, err := decodeSegments(kv.Value)
		if err != nil {
			return err
		}
		for _, ref := range list.Segments {
			skip, err := visit(ref.CID)
			if err == nil && !skip {
				err = r.walk(ctx, ref.CID, visit)
			}
			if err != nil {
				return err
			}
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
	for i := range s.cols {
		for n, at := range s.cols[i].dirs {
			if _, err := visit(at); err != nil {
				return err
			}
			dir, err := r.dir(ctx, &s.cols[i], n)
			if err != nil {
				return err
			}
			for _, part := range dir {
				if _, err := visit(part); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

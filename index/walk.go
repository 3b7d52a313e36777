package index

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// ErrSkipLinked is returned by the function of Walk to pass over what a block links to.
var ErrSkipLinked = errors.New("skip what this links to")

// Walk calls fn with the CID of every block of an index, the manifest first, parts after what
// links to them. It reads the manifest, the segments' own blocks and directories, but no parts.
// An error of fn ends the walk and is returned, but ErrSkipLinked: a manifest or segment for which fn
// returns that is not read. fn may be called twice with one CID.
func Walk(ctx context.Context, get store.Getter, manifest ipld.CID, fn func(ipld.CID) error) error {
	if err := fn(manifest); err != nil {
		return unlessSkip(err)
	}
	m, err := ReadManifest(ctx, get, manifest)
	if err != nil {
		return err
	}
	src := &source{get: get, cache: new(Cache)}
	for _, ref := range m.Segments {
		err := fn(ref.CID)
		if errors.Is(err, ErrSkipLinked) {
			continue
		}
		if err != nil {
			return err
		}
		s, err := src.segment(ctx, ref.CID)
		if err != nil {
			return err
		}
		for sec := range s.sec {
			if err := src.walk(ctx, s, sec, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

func unlessSkip(err error) error {
	if errors.Is(err, ErrSkipLinked) {
		return nil
	}
	return err
}

func (r *source) walk(
	ctx context.Context, s *segment, sec int, fn func(ipld.CID) error,
) error {
	for n, ref := range s.sec[sec].refs {
		if ref.data != nil {
			continue
		}
		if err := unlessSkip(fn(ref.cid)); err != nil {
			return err
		}
		if !s.sec[sec].deep() {
			continue
		}
		dir, err := r.dir(ctx, s, sec, n)
		if err != nil {
			return err
		}
		for _, part := range dir {
			if err := unlessSkip(fn(part.cid)); err != nil {
				return err
			}
		}
	}
	return nil
}

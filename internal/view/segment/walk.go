package segment

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// ErrSkipLinked is returned by Walk's callback to skip the blocks that a block links to.
var ErrSkipLinked = errors.New("skip what this links to")

// Visit calls fn with a block and reports whether to skip the blocks that it links to.
func Visit(c ipld.CID, fn func(ipld.CID) error) (skip bool, err error) {
	if err = fn(c); errors.Is(err, ErrSkipLinked) {
		return true, nil
	}
	return false, err
}

// Walk calls fn with the CID of every block of an index, the manifest first, parts after the blocks that link to
// them. It reads the manifest, the segments' own blocks and directories, but no parts. An error of fn ends the walk
// and is returned, except ErrSkipLinked: a manifest or segment for which fn returns that is not read. fn may be
// called twice with one CID.
func (f *Format) Walk(ctx context.Context, get store.Getter, c ipld.CID, fn func(ipld.CID) error) error {
	if skip, err := Visit(c, fn); skip || err != nil {
		return err
	}
	m, err := f.ReadManifest(ctx, get, c)
	if err != nil {
		return err
	}
	return f.WalkList(ctx, get, &m.List, fn)
}

// WalkList is Walk for the segments of a list.
func (f *Format) WalkList(
	ctx context.Context, get store.Getter, l *List, fn func(ipld.CID) error,
) error {
	r := f.NewReader(get, nil)
	for _, ref := range l.Segments {
		skip, err := Visit(ref.CID, fn)
		if err != nil {
			return err
		}
		if skip {
			continue
		}
		s, err := r.Segment(ctx, ref.CID)
		if err != nil {
			return err
		}
		for sec := range s.sections {
			if err := r.walk(ctx, s, sec, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) walk(ctx context.Context, s *Segment, sec int, fn func(ipld.CID) error) error {
	for n, ref := range s.sections[sec].refs {
		if ref.data != nil {
			continue
		}
		if _, err := Visit(ref.cid, fn); err != nil {
			return err
		}
		if !s.sections[sec].deep() {
			continue
		}
		dir, err := r.dir(ctx, s, sec, n)
		if err != nil {
			return err
		}
		for _, p := range dir.refs {
			if _, err := Visit(p.cid, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

package core

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/links"
	"github.com/mnem-project/mnem/segment"
	"github.com/mnem-project/mnem/store"
)

// Links returns the index of the snapshot's links. It returns nil where there are no edges, and where
// there is no index and the repository is not open for writing: the trees say the same.
func (s *Snapshot) Links(ctx context.Context) (*links.Index, error) {
	if s.State.Edges.Len() == 0 {
		return nil, nil
	}
	r, k := s.Repo, view.LinksKind(s.Repo.Derived(), nil)
	if r.Ro {
		if _, err := k.Manifest(ctx, s.State); errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
	}
	return indexOf(ctx, s, &r.links, k,
		func(blocks segment.Blocks, manifest ipld.CID) (*links.Index, error) {
			return links.Open(ctx, blocks, manifest, view.LinksOf(s.State), r.Buckets)
		})
}

package rank

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/retrieve"
)

// Excluding returns the request with the names of excluded nodes resolved. A whole id stands for
// itself whether or not the commit has the node, which may be gone; any other name that the commit
// does not know is refused, as it would exclude nothing.
func Excluding(
	ctx context.Context, s *core.Snapshot, req retrieve.Request,
) (retrieve.Request, error) {
	if err := req.ValidateGiven(); err != nil {
		return req, err
	}
	exclude := slices.Clone(req.Exclude)
	for _, name := range req.ExcludeNames {
		id, err := s.Name(ctx, name)
		if errors.Is(err, store.ErrNotFound) {
			if whole, bad := graph.ParseID(strings.TrimPrefix(name, "id:")); bad == nil {
				id, err = whole, nil
			}
		}
		if err != nil {
			return req, err
		}
		exclude = append(exclude, id)
	}
	req.Exclude, req.ExcludeNames = exclude, nil
	return req, nil
}

package index

import (
	"context"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// grown returns an index and its documents after up to five updates. Each adds, replaces and removes some of at most
// space nodes.
func grown(
	t *testing.T, rng *rand.Rand, space int, doc func(graph.ID) *Document,
) (collection, *Index) {
	t.Helper()
	ctx, blocks := context.Background(), mem.New().Derived()
	docs, m := collection{}, ipld.CID{}
	for range 1 + rng.IntN(5) {
		next := maps.Clone(docs)
		for range rng.IntN(space) {
			id := randomID(rng, space)
			next[id] = doc(id)
			if rng.IntN(5) == 0 {
				delete(next, id)
			}
		}
		var err error
		m, err = Update(ctx, blocks, m, changes(docs, next), UpdateOptions{})
		must.OK(t, err)
		docs = next
	}
	x := must.Get(Open(ctx, blocks, m, nil))(t)
	return docs, x
}

package index

import (
	"context"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// grown returns an index of up to five updates, each of which adds, replaces and removes some of
// as many nodes as space says, and what it is of.
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
		if m, err = Update(ctx, blocks, m, changes(docs, next), UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		docs = next
	}
	x, err := Open(ctx, blocks, m, nil)
	must.OK(t, err)
	return docs, x
}

// TestTermScores splits scores: a row's sum is the score of Text, and a column is that of its word.
func TestTermScores(t *testing.T) {
	ctx := context.Background()
	rng := newRand(t)
	rounds := effort.Pick(10, 20, 400)
	if effort.Race {
		rounds = 5
	}
	for range rounds {
		docs, x := grown(t, rng, 150, func(id graph.ID) *Document { return randomDoc(rng, id) })
		list := []string{"alpha", "river", "Bob", "nowhere", "деньги"}
		scores := func(query string) map[graph.ID]int64 {
			res, err := x.Text(ctx, query, nil, 1<<20)
			must.OK(t, err)
			out := map[graph.ID]int64{}
			for _, h := range res.Hits {
				out[h.ID] = h.Score
			}
			return out
		}
		query := strings.Join(list, " ") + " river"
		whole := scores(query)
		var ids []graph.ID
		for id := range docs {
			ids = append(ids, id)
		}
		ids = append(ids, graph.NodeID("nobody"))
		got, err := x.TermScores(ctx, query, ids, nil)
		if err != nil || len(got.Terms) != len(list) || len(got.Scores) != len(ids) {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, id := range ids {
			sum := int64(0)
			for _, s := range got.Scores[i] {
				sum += s
			}
			if sum != whole[id] {
				t.Fatalf("node %s: terms give %d, the text %d", id, sum, whole[id])
			}
		}
		some, err := x.TermScores(ctx, query, ids, []int{4, 1})
		if err != nil || len(some.Terms) != 2 || some.Terms[1] != got.Terms[1] {
			t.Fatalf("%+v, %v", some, err)
		}
		for i, row := range some.Scores[:len(ids)-1] {
			if row[0] != got.Scores[i][4] || row[1] != got.Scores[i][1] {
				t.Fatalf("some terms give %v, all %v", row, got.Scores[i])
			}
		}
		if got.Scores[len(ids)-1] != nil {
			t.Error("a node that is not there has scores")
		}
		for i, word := range list {
			one := scores(word)
			times := int64(1)
			if word == "river" {
				times = 2
			}
			for j, id := range ids[:len(ids)-1] {
				if got.Scores[j][i] != times*one[id] {
					t.Fatalf("%s in node %s: %d, want %d", word, id, got.Scores[j][i], times*one[id])
				}
			}
		}
	}
}

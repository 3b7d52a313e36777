package remember

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// fill makes a memory of n nodes with texts; each mentions an entity.
func fill(t testing.TB, r *core.Repo, n int) {
	t.Helper()
	names := []string{"Alice", "Redis", "Berlin", "Kafka", "Priya", "Lyon"}
	changes := func(yield func(graph.Change, error) bool) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, name := range names {
			c := graph.Change{Node: &graph.NodeChange{Key: memory.EntityKey(name), Type: memory.TypeEntity, Summary: &name}}
			if !yield(c, nil) {
				return
			}
		}
		for i := range n {
			d := draft(fmt.Sprintf("note %d says that w%d met w%d", i, rng.IntN(5000), rng.IntN(5000)), 0)
			e := &graph.EdgeChange{Type: memory.EdgeMentions, Src: graph.Ref{ID: d.ID},
				Dst: graph.Ref{Key: memory.EntityKey(names[i%len(names)])}}
			if !yield(graph.Change{Node: &graph.NodeChange{ID: d.ID, Type: memory.Fact, Summary: &d.Text}}, nil) ||
				!yield(graph.Change{Edge: e}, nil) {
				return
			}
		}
	}
	must.Get(r.Commit(t.Context(), changes, core.CommitOptions{Stamp: linkBy}))(t)
}

// story is a draft with names, a signal and tags.
func story(i int) *Draft {
	d := draft(fmt.Sprintf("Alice moved note %d from Redis to Kafka because w%d ran out of memory in "+
		"Berlin, so Priya called Hamburg %d.", i, i, i), i%20, "conversation:1")
	d.Tags = []string{"move", "outage"}
	return d
}

// TestReadingWork bounds what exploring, related and suggest read, with nothing cached.
func TestReadingWork(t *testing.T) {
	effort.Alone(t)
	last := map[string]int64{}
	for _, n := range []int{1_000, 10_000} {
		st := mem.New()
		r := must.Get(care.New(t.Context(), st, linkBy, core.Options{}))(t)
		fill(t, r, n)
		m := New(r)
		d := story(1)
		m.writeDrafts(t, LinkOptions{}, nil, d)
		for _, c := range []struct {
			name string
			most int64
			fn   func(*core.Snapshot) error
		}{
			{"explore", 8000, func(s *core.Snapshot) error {
				_, err := recall.Explore(t.Context(), s, recall.ExploreRequest{Node: graph.NodeID("entity/redis")})
				return err
			}},
			{"related", 2500, func(s *core.Snapshot) error {
				return must.Err(recall.Related(t.Context(), s, recall.RelatedRequest{ID: d.ID}))
			}},
			{"suggest", 500, func(s *core.Snapshot) error {
				return must.Err(recall.Suggest(t.Context(), s, "w77 ran out of memory in Berlin"))
			}},
		} {
			counts := repokit.NewCounted(st)
			cold := must.Get(care.New(t.Context(), counts, linkBy, core.Options{}))(t)
			s := New(cold).headOf(t)
			counts.FactCounts.Reset()
			counts.DerivedCounts.Reset()
			must.OK(t, c.fn(s))
			reads := counts.FactCounts.Counts().BlocksRead + counts.DerivedCounts.Counts().BlocksRead
			t.Logf("%d nodes: %s reads %d blocks", n, c.name, reads)
			if reads > c.most || last[c.name] > 0 && reads > 3*last[c.name]+50 {
				t.Errorf("%d nodes: %s reads %d blocks, %d in a tenth of it", n, c.name, reads, last[c.name])
			}
			last[c.name] = reads
		}
	}
}

package core_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestOrderAndBatchesLeaveNoTrace commits the same facts in several orders and batches: the graph
// must have one CID.
func TestOrderAndBatchesLeaveNoTrace(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	data := must.Get(os.ReadFile("../../testdata/demo/memory.jsonl"))(t)
	var nodes, edges []string
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, `{"node"`) {
			nodes = append(nodes, line)
		} else {
			edges = append(edges, line)
		}
	}
	must.Require(t, len(nodes) >= 150 && len(edges) >= 300, "%d nodes and %d edges", len(nodes), len(edges))
	want := repokit.Lines(t, repokit.OpenMem(t), string(data)).Graph
	for seed := range uint64(4) {
		t.Logf("seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 1))
		all := append(append([]string(nil), nodes...), edges...)
		rng.Shuffle(len(nodes), func(i, j int) { all[i], all[j] = all[j], all[i] })
		rest := all[len(nodes):]
		rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		small := repokit.OpenMem(t)
		for len(all) > 0 {
			n := min(1+rng.IntN(40), len(all))
			repokit.Lines(t, small, strings.Join(all[:n], ""))
			all = all[n:]
		}
		must.Equal(t, repokit.Head(t, small).Graph(), want, "many commits: graph")
		mixed := append(append([]string(nil), nodes...), edges...)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		got := repokit.Lines(t, repokit.OpenMem(t), strings.Join(mixed, "")).Graph
		must.Check(t, got == want, "one shuffled commit: graph %s, want %s", got, want)
	}
}

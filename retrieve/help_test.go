package retrieve

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/differ"
	"github.com/mnem-project/mnem/ipld"
)

// diff reports how got differs from want, "" if it does not.
func diff(want, got any) string {
	return differ.Diff(want, got, cmp.Comparer(func(a, b ipld.CID) bool { return a == b }))
}

// num returns an id that sorts as n.
func num(n int) graph.ID {
	var id graph.ID
	binary.BigEndian.PutUint64(id[:], uint64(n)+1)
	return id
}

// seeded returns a random source and prints its seed, so that a failure can be run again.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// testCommit stands for the commit that memory is at.
var testCommit = ipld.Sum(ipld.DagCBOR, []byte("commit"))

// refusedGolden names the parameter that an error refuses, nil without an error.
func refusedGolden(t testing.TB, err error) any {
	t.Helper()
	var refused *RequestError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refused):
		t.Fatal(err)
	}
	return map[string]any{"error": refused.Param}
}

// manyIDs returns n different ids.
func manyIDs(n int) []graph.ID {
	ids := make([]graph.ID, n)
	for i := range ids {
		ids[i] = num(i)
	}
	return ids
}

// said are parameters as a receipt has them, which a request gives or a profile says.
type said map[string]ipld.Value

func (s said) profile() Profile {
	var p Profile
	for name, v := range s {
		p.Params = append(p.Params, ipld.Entry{Key: name, Value: v})
	}
	ipld.SortEntries(p.Params)
	return p
}

func weightOf(lane string, n int64) ipld.Entry {
	return ipld.Entry{Key: lane, Value: ipld.IntValue(n)}
}

// fullRequest sets every parameter.
func fullRequest() Request {
	return Request{
		Vectors: vectorOf("m", 1, -2),
		Fusion:  ScoreNorm,
		Weights: []LaneWeight{{LaneText, 0}, {LaneDense("m"), MaxWeight}},
		Text:    "web `alice`",
		Types:   []string{"Service", "Person", "Service"},
		Where: []Predicate{
			{Name: "z", Op: Missing},
			{Name: "kind", Op: OneOf, Value: ipld.ListValue(ipld.IntValue(1), ipld.StringValue("x"))},
		},
		TimeFilter: TimeFilter{CreatedFrom: graph.At(-5), CreatedTo: graph.At(1000), UpdatedFrom: graph.At(0),
			UpdatedTo: graph.At(1001), ValidAt: graph.At(7)},

		Marks: []graph.State{graph.Retired, graph.Expired},
		Limit: new(5), Budget: new(0), ExpansionOptions: ExpansionOptions{Expand: new(2),
			ExpandTypes: []string{"owns", "feeds"}, Direction: Out},

		OutputOptions: OutputOptions{Adjacency: 2, Show: []string{ShowTimes, ShowKey}, SummaryCap: new(0), Order: ByTime},
		Exclusions:    Exclusions{Exclude: []graph.ID{num(9), num(8), num(9)}, UnseenFrom: 7}, Dedup: true,
	}
}

func vectorOf(model string, values ...int8) []QueryVector {
	return []QueryVector{{Model: model, Values: values}}
}

package stage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/differ"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
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
	var refused *retrieve.RequestError
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

// parsed reads a JSON value of a test case.
func parsed(t testing.TB, s string) ipld.Value {
	t.Helper()
	return must.Get(ipld.ParseJSON([]byte(s)))(t, s)
}

// asked are requests that give no parameter that a profile may say.
func asked() []retrieve.Request {
	return []retrieve.Request{
		{}, {Text: "x"}, {Text: "x in May 2023"}, {Vectors: vectorOf("m", 1)},
		{Text: "x", Vectors: vectorOf("m", 1)}, {Text: "x", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"y"}}},
	}
}

// inGroups are values of parameters that do not all fit each other, by group
var inGroups = []struct{ ofRequest, ofProfile map[string][]ipld.Value }{
	{
		map[string][]ipld.Value{"expansion": texts("lend", "decay", "ppr"), "expand": integers(0, 4, 64),
			"decay": integers(9), "damping": integers(9),
			"edgeWeights": {ipld.MapValue(weightOf("owns", 3))}},
		map[string][]ipld.Value{"expansion": texts("decay", "ppr"), "expand": integers(0, 4, 64),
			"decay": integers(7), "damping": integers(7),
			"edgeWeights": {ipld.MapValue(weightOf("owns", 5))}},
	},
	{
		map[string][]ipld.Value{"pack": texts("whole", "passages"), "passageTokens": integers(9)},
		map[string][]ipld.Value{"pack": texts("passages"), "passageTokens": integers(7, 256)},
	},
	{
		map[string][]ipld.Value{"fusion": texts("convex", "rrf"), "weights": {
			ipld.MapValue(weightOf("text", 0)), ipld.MapValue(weightOf("time", 0)),
			ipld.MapValue(weightOf("text", 3), weightOf("dense:m", 0))}},
		map[string][]ipld.Value{"fusion": texts("weighted-rrf", "rrf"), "weights": {
			ipld.MapValue(weightOf("text", 0)), ipld.MapValue(weightOf("text:1", 5)),
			ipld.MapValue(weightOf("text", 0), weightOf("dense:m", 0), weightOf("time", 7)),
			ipld.MapValue(weightOf("text", 0), weightOf("text:1", 0), weightOf("dense:o", 7))}},
	},
}

func integers(list ...int64) []ipld.Value {
	var out []ipld.Value
	for _, n := range list {
		out = append(out, ipld.IntValue(n))
	}
	return out
}

// said are parameters as a receipt has them, which a request gives or a profile says.
type said map[string]ipld.Value

func (s said) profile() retrieve.Profile {
	var p retrieve.Profile
	for name, v := range s {
		p.Params = append(p.Params, ipld.Entry{Key: name, Value: v})
	}
	ipld.SortEntries(p.Params)
	return p
}

func (s said) request(t *testing.T, base retrieve.Request) retrieve.Request {
	t.Helper()
	for name, v := range s {
		shown, _ := retrieve.Share(name, v)
		must.OK(t, base.SetMember(retrieve.MemberName(name), shown))
	}
	base.Explicit = slices.Sorted(maps.Keys(s))
	return base
}

func texts(list ...string) []ipld.Value {
	var out []ipld.Value
	for _, s := range list {
		out = append(out, ipld.StringValue(s))
	}
	return out
}

func weightOf(lane string, n int64) ipld.Entry {
	return ipld.Entry{Key: lane, Value: ipld.IntValue(n)}
}

// testProfiles are profiles of a repository.
func testProfiles() *retrieve.Profiles {
	params := func(entries ...ipld.Entry) []ipld.Entry {
		ipld.SortEntries(entries)
		return entries
	}
	number := func(name string, n int64) ipld.Entry {
		return ipld.Entry{Key: name, Value: ipld.IntValue(n)}
	}
	return &retrieve.Profiles{Default: "team", Named: map[string]retrieve.Profile{
		"team": {Types: []string{"Note", "Person"}, Params: params(number("limit", 5),
			number("adjacency", 2),
			ipld.Entry{Key: "dedup", Value: ipld.BoolValue(true)})},
		"notes": {Types: []string{"Note"}, Params: params(number("expand", 0))},
		"lanes": {Params: params(
			ipld.Entry{Key: "weights", Value: ipld.MapValue(number("text", 9), number("dense:m", 8))},
			ipld.Entry{Key: "edgeWeights", Value: ipld.MapValue(number("owns", 7))})},
		"ranks": {Params: params(ipld.Entry{Key: "fusion", Value: ipld.StringValue("rrf")})},
		"later": {Params: params(number("later", 1))},
		"chat":  {},
	}}
}

// fullRequest sets every parameter.
func fullRequest() retrieve.Request {
	return retrieve.Request{
		Vectors: vectorOf("m", 1, -2),
		Fusion:  retrieve.ScoreNorm,
		Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 0}, {Lane: retrieve.LaneDense("m"), Weight: retrieve.MaxWeight}},
		Text:    "web `alice`",
		Types:   []string{"Service", "Person", "Service"},
		Where: []retrieve.Predicate{
			{Name: "z", Op: retrieve.Missing},
			{Name: "kind", Op: retrieve.OneOf, Value: ipld.ListValue(ipld.IntValue(1), ipld.StringValue("x"))},
		},
		TimeFilter: retrieve.TimeFilter{CreatedFrom: graph.At(-5), CreatedTo: graph.At(1000),
			UpdatedFrom: graph.At(0), UpdatedTo: graph.At(1001), ValidAt: graph.At(7)},

		Marks: []graph.State{graph.Retired, graph.Expired},
		Limit: new(5), Budget: new(0), ExpansionOptions: retrieve.ExpansionOptions{Expand: new(2),
			ExpandTypes: []string{"owns", "feeds"}, Direction: retrieve.Out},

		OutputOptions: retrieve.OutputOptions{Adjacency: 2, Show: []string{retrieve.ShowTimes, retrieve.ShowKey},
			SummaryCap: new(0), Order: retrieve.ByTime},
		Exclusions: retrieve.Exclusions{Exclude: []graph.ID{num(9), num(8), num(9)}, UnseenFrom: 7}, Dedup: true,
	}
}

// withParam returns params with one entry replaced, added or, without value, removed.
func withParam(params ipld.Value, key string, value *ipld.Value) ipld.Value {
	entries := slices.DeleteFunc(slices.Clone(params.Entries()), func(e ipld.Entry) bool {
		return e.Key == key
	})
	if value != nil {
		entries = append(entries, ipld.Entry{Key: key, Value: *value})
	}
	return ipld.MapValue(entries...)
}

// judge is a Reranker that scores by the text, or fails.
type judge struct {
	score func(text string) int64
	err   error
	short bool // leaves one score out
	texts []string
	query string
}

func (j *judge) Model() string { return "judge:1" }

func (j *judge) Rerank(_ context.Context, query string, texts []string) ([]int64, error) {
	j.query, j.texts = query, texts
	var out []int64
	for _, s := range texts {
		out = append(out, j.score(s))
	}
	if j.short {
		out = out[1:]
	}
	return out, j.err
}

// manyTerms are n terms of a length of at least 5.
func manyTerms(n, length int) []graph.Term {
	out := make([]graph.Term, n)
	for i := range out {
		out[i] = graph.Term{Term: fmt.Sprintf("%0*d", length, i), Weight: 1<<31 - 1}
	}
	return out
}

func sparseOf(model string, terms ...graph.Term) []retrieve.SparseVector {
	return []retrieve.SparseVector{{Model: model, Terms: terms}}
}

func vectorOf(model string, values ...int8) []retrieve.QueryVector {
	return []retrieve.QueryVector{{Model: model, Values: values}}
}

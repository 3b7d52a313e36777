package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// haystack makes a repository of n nodes that all fit the questions of TestFilterFindsOneOfMany
// better than one of them does, which alone has the property needle.
func haystack(t *testing.T, n int) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{}))(t)
	t.Cleanup(func() { _ = r.Close() }) // in memory
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"node":{"key":"hay%d","type":"Note","summary":"alpha alpha beta",`+
			`"created":"2024-05-01T00:00:00Z"}}`+"\n", i)
		fmt.Fprintf(&b, `{"embedding":{"node":"hay%d","model":"m","vector":[1,0.01]}}`+"\n", i)
		fmt.Fprintf(&b, `{"embedding":{"node":"hay%d","model":"s","sparse":{"alpha":9,"b":1}}}`+"\n", i)
		fmt.Fprintf(&b, `{"edge":{"type":"t","src":"hub","dst":"hay%d"}}`+"\n", i)
	}
	b.WriteString(`{"node":{"key":"hub","type":"Hub","summary":"gamma","props":{"needle":false}}}
{"node":{"key":"needle","type":"Note","summary":"a long note that has the word alpha just once among ` +
		`very many others of no matter","created":"2020-01-01T00:00:00Z","props":{"needle":true}}}
{"embedding":{"node":"needle","model":"m","vector":[0.1,1]}}
{"embedding":{"node":"needle","model":"s","sparse":{"alpha":0.1}}}
{"edge":{"type":"last","src":"hub","dst":"needle"}}
`)
	repokit.Lines(t, r, b.String())
	return r
}

// TestFilterFindsOneOfMany asks every lane for the one node of many that a filter lets pass, which is
// the last of all in each of them.
func TestFilterFindsOneOfMany(t *testing.T) {
	t.Parallel()
	n := effort.Pick(10_000, 100_000, 100_000)
	if effort.Race {
		n = 2_000
	}
	s := repokit.Head(t, haystack(t, n))
	where := must.Get(retrieve.ParsePredicate("needle = true"))(t)
	vector := must.Get(retrieve.NewQueryVector("m", []float64{1, 0}))(t)
	sparse := must.Get(retrieve.NewSparseVector("s", []graph.SparseWeight{{Term: "alpha", Weight: 1}}))(t)
	hub, err := retrieve.ParsePredicate("needle exists") // else no neighbour could contribute
	must.OK(t, err)
	for name, req := range map[string]retrieve.Request{
		"text":    {Text: "alpha", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}},
		"dense":   {Vectors: []retrieve.QueryVector{vector}, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}},
		"recency": {},
		"sparse":  {Sparse: []retrieve.SparseVector{sparse}, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}},
		"rewrite": {Text: "zeta", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"alpha"}},
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}},
		"time":   {Text: "what happened in May 2024"},
		"exact":  {Text: "needle"},
		"quoted": {Text: `what of "needle"`},
		"expand": {
			Text: "gamma", ExpansionOptions: retrieve.ExpansionOptions{ExpandTypes: []string{"last"}},
			Where: []retrieve.Predicate{hub},
		},
		"fused": {Text: "alpha", Vectors: []retrieve.QueryVector{vector}, Fusion: retrieve.RRF},
	} {
		t.Run(name, func(t *testing.T) {
			if req.Where == nil {
				req.Where = []retrieve.Predicate{where}
			}
			req.Floor = retrieve.FloorRest
			answer := must.Get(rank.Retrieve(t.Context(), s, req))(t)
			items := answer.Items
			if len(items) > 0 && items[0].Key == "hub" {
				items = items[1:]
			}
			must.Check(t, len(items) == 1 && items[0].Key == "needle",
				"found %d items, %d candidates; want the needle alone", len(items), answer.Candidates)
		})
	}
}

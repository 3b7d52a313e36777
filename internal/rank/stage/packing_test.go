package stage

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestExcludeIsFilter compares --exclude with a filter that the same nodes fail.
func TestExcludeIsFilter(t *testing.T) {
	rng := seeded(t)
	for range 60 {
		m := randomMemory(rng, 60, 150)
		req := retrieve.Request{Text: []string{"a b", "a", "", "c `key3`"}[rng.IntN(4)],
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(rng.IntN(4))}, Budget: new(0), Limit: new(0),
			OutputOptions: retrieve.OutputOptions{Adjacency: rng.IntN(3)}}
		all := m.ask(t, req)
		var out []graph.ID
		for _, item := range all.Items {
			if rng.IntN(3) == 0 {
				out = append(out, item.ID)
			}
		}
		for id, n := range m.nodes {
			n.Props = []ipld.Entry{{Key: "in", Value: ipld.BoolValue(!slices.Contains(out, id))}}
		}
		byWhere, byID := req, req
		byWhere.Where = []retrieve.Predicate{{Name: "in", Op: retrieve.Equal, Value: ipld.BoolValue(true)}}
		byID.Exclude = out
		want, got := m.ask(t, byWhere), m.ask(t, byID)
		want.Request, got.Request = retrieve.Request{}, retrieve.Request{}
		must.Equal(t, diff(want, got), "")
	}
}

func TestUnresolved(t *testing.T) {
	m := library()
	for param, req := range map[string]retrieve.Request{
		"exclude": {Exclusions: retrieve.Exclusions{ExcludeNames: []string{"alice"}}},
		"unseen":  {Exclusions: retrieve.Exclusions{Unseen: true}},
	} {
		_, err := Runner{}.Run(t.Context(), m, m, testCommit, req)
		var re *retrieve.RequestError
		must.Check(t, errors.As(err, &re) && re.Param == param, "%s: %v", param, err)
	}
}

func TestLambda(t *testing.T) {
	for x, want := range map[float64]int{0: 0, 1: 65_536, 0.5: 32_768, 0.7: 45_875,
		1.0 / 131_072: 0, 3.0 / 131_072: 2} {
		got, ok := retrieve.Lambda(x)
		must.Check(t, ok && got == want, "%v: %d, want %d", x, got, want)
	}
	for _, x := range []float64{-0.1, 1.0000001, math.NaN(), math.Inf(1)} {
		got, ok := retrieve.Lambda(x)
		must.Check(t, !ok, "%v: %d", x, got)
	}
}

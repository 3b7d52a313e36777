package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestLargestReceipt checks that the receipt of the largest request and answer fits into a block.
func TestLargestReceipt(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("%0255d", i) }
	req := retrieve.Request{Text: strings.Repeat("x", retrieve.MaxText), Limit: new(0), Budget: new(0)}
	for i := range 64 {
		req.Types = append(req.Types, name(i))
		req.ExpandTypes = append(req.ExpandTypes, name(i))
		req.Where = append(req.Where, retrieve.Predicate{Name: name(i), Op: retrieve.OneOf,
			Value: ipld.ListValue(slices.Repeat([]ipld.Value{ipld.IntValue(1)}, 1000)...), Edges: retrieve.In})
	}
	req.Exclude = manyIDs(retrieve.MaxExclude)
	a := &retrieve.Answer{Commit: testCommit, Request: req.Resolve(), Engine: retrieve.CurrentEngine(),
		Candidates: 1000}
	for i := range 1000 {
		a.Items = append(a.Items, retrieve.Item{ID: num(i), Node: testCommit, Score: graph.MaxCount,
			Tokens: 1 << 30})
		a.TokensUsed += 1 << 30
	}
	r, _ := a.Receipt()
	must.OK(t, r.Validate())
	must.Get(retrieve.DecodeReceipt(r.Encode()))(t)
}

// TestParseRequestJSON freezes what requests in JSON are read as, over a request with some parameters.
func TestParseRequestJSON(t *testing.T) {
	base := retrieve.Request{Text: "base", Types: []string{"Base"}, Limit: new(3), Vectors: vectorOf("old", 1),
		Sparse:        sparseOf("old", manyTerms(1, 5)...),
		OutputOptions: retrieve.OutputOptions{Show: []string{"key"}, Adjacency: 9}}
	cases.Golden(t, "testdata/request-read.jsonl", func(t testing.TB, c cases.Case) any {
		var text string
		cases.Parse(t, c.Input, &text)
		q := must.Get(complete.ParseRequestJSON(parsed(t, text), base))(t, text)
		r := q.Request.Resolve()
		return map[string]any{"id": q.ID, "text": r.Text, "params": json.RawMessage(ipld.AppendJSON(nil, keptParams(r))),
			"excludeNames": r.ExcludeNames, "unseen": r.Unseen, "profile": r.Profile, "explicit": r.Explicit,
			"echo": json.RawMessage(ipld.AppendJSON(nil, ipld.MapValue(q.Echo...)))}
	})
}

// TestParseRequestJSONRefuses freezes for which parameter requests are refused.
func TestParseRequestJSONRefuses(t *testing.T) {
	cases.Golden(t, "testdata/request-refused.jsonl", func(t testing.TB, c cases.Case) any {
		var text string
		cases.Parse(t, c.Input, &text)
		_, err := complete.ParseRequestJSON(parsed(t, text), retrieve.Request{})
		var re *retrieve.RequestError
		must.Require(t, errors.As(err, &re), "%s: %v", text, err)
		return re.Param
	})
}

// TestFlagNames checks that every parameter of a receipt has a member in JSON requests.
func TestFlagNames(t *testing.T) {
	r, _ := fullLibrary().ask(t, fullRequest()).Receipt()
	for _, e := range r.Params.Entries() {
		name := retrieve.MemberName(e.Key)
		v := ipld.MapValue(ipld.Entry{Key: name, Value: ipld.Value{}})
		_, err := complete.ParseRequestJSON(v, retrieve.Request{})
		var re *retrieve.RequestError
		must.True(t, errors.As(err, &re) && re.Param == name && !strings.Contains(re.Reason, "unknown"),
			"%s: %v", name, err)
	}
}

func TestApplyRefuses(t *testing.T) {
	for name, want := range map[string]error{"gone": retrieve.ErrNoProfile, "a b": retrieve.ErrRequest,
		"later": retrieve.ErrRequest} {
		given := retrieve.Request{Text: "x", ProfileChoice: retrieve.ProfileChoice{Profile: name,
			Explicit: []string{"limit"}}}
		got, err := testProfiles().Apply(given)
		must.Fail(t, err, want, name)
		must.Fail(t, err, retrieve.ErrRequest, name)
		must.Equal(t, diff(given, got), "", name, ": changed")
	}
	_, err := (Runner{}).Run(t.Context(), newMemory(), newMemory(), testCommit,
		retrieve.Request{ProfileChoice: retrieve.ProfileChoice{Profile: "chat"}})
	must.True(t, errors.Is(err, retrieve.ErrRequest), "without a repository: %v", err)
}

func TestEdgeWeights(t *testing.T) {
	for _, bad := range []float64{-1, 17, math.NaN(), math.Inf(1), 1e-9} {
		must.Fail(t, must.Err(retrieve.NewEdgeWeight("t", bad)), retrieve.ErrRequest, bad)
	}
	for _, bad := range [][]retrieve.EdgeWeight{
		{{Type: "", Weight: 1}}, {{Type: "t", Weight: -1}}, {{Type: "t", Weight: retrieve.MaxWeight + 1}}, {{Type: "t", Weight: 1}, {Type: "t", Weight: 2}}, {{Type: "\xff", Weight: 1}},
		{{Type: strings.Repeat("t", graph.MaxType+1), Weight: 1}}, slices.Repeat([]retrieve.EdgeWeight{{Type: "t", Weight: 1}}, 65),
	} {
		must.Fail(t, (retrieve.Request{ExpansionOptions: retrieve.ExpansionOptions{EdgeWeights: bad}}).Validate(), retrieve.ErrRequest, bad)
	}
	r := retrieve.Request{ExpansionOptions: retrieve.ExpansionOptions{EdgeWeights: []retrieve.EdgeWeight{{Type: "b", Weight: 2}, {Type: "one", Weight: 65_536}, {Type: "a", Weight: 0}}}}
	must.Same(t, r.Resolve().EdgeWeights, []retrieve.EdgeWeight{{Type: "a", Weight: 0}, {Type: "b", Weight: 2}})
	weights := []retrieve.EdgeWeight{{Type: "owns", Weight: 131_072}, {Type: "likes", Weight: 32_768}}
	m := shelf()
	for _, req := range []retrieve.Request{{ExpansionOptions: retrieve.ExpansionOptions{EdgeWeights: weights}},
		{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0), EdgeWeights: weights}}} {
		got := codes(m.ask(t, req))
		must.True(t, slices.Contains(got, retrieve.EdgeWeightsUnused), "warnings %v", got)
	}
	got := codes(m.ask(t, retrieve.Request{Text: "a",
		ExpansionOptions: retrieve.ExpansionOptions{EdgeWeights: weights}}))
	must.True(t, len(got) == 0, "warnings %v", got)
}

func FuzzDecodeProfiles(f *testing.F) {
	f.Add(testProfiles().Encode())
	f.Add((&retrieve.Profiles{Default: "x"}).Encode())
	f.Fuzz(func(t *testing.T, block []byte) {
		p, err := retrieve.DecodeProfiles(block)
		if err != nil {
			must.Fail(t, err, ipld.ErrInvalid)
			return
		}
		must.Same(t, p.Encode(), block, "decoded, but encodes to other bytes")
		for _, name := range p.Names() {
			profile, _, _ := p.Get(name)
			later := slices.ContainsFunc(profile.Params, func(e ipld.Entry) bool {
				return !slices.Contains(retrieve.ProfileParams(), e.Key)
			})
			r, err := p.Apply(retrieve.Request{Text: "x", ProfileChoice: retrieve.ProfileChoice{Profile: name}})
			if err == nil {
				err = errors.Join(r.Validate(), checkLanes(&r))
			}
			must.Require(t, err == nil || (later && errors.Is(err, retrieve.ErrRequest)), "%v", err)
		}
	})
}

func TestWeightsRefused(t *testing.T) {
	text := func(w int64) []retrieve.LaneWeight {
		return []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: w}}
	}
	for _, c := range []struct {
		name   string
		req    retrieve.Request
		reason string
	}{
		{"too large", retrieve.Request{Text: "a", Weights: text(retrieve.MaxWeight + 1)}, "0 to 1048576"},
		{"negative", retrieve.Request{Text: "a", Weights: text(-1)}, "0 to 1048576"},
		{"twice", retrieve.Request{Text: "a", Weights: append(text(1), text(2)...)}, "two weights"},
		{"rrf", retrieve.Request{Text: "a", Weights: text(1), Fusion: retrieve.RRF}, "weighted-rrf"},
		{"no lane", retrieve.Request{Text: "a", Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneExpand, Weight: 1}}}, "no lane"},
		{"no model", retrieve.Request{Text: "a", Weights: []retrieve.LaneWeight{{Lane: "dense:", Weight: 1}}}, "no lane"},
		{"absent text", retrieve.Request{Weights: text(1)}, "has no lane"},
		{"absent model", retrieve.Request{Text: "a", Weights: []retrieve.LaneWeight{{Lane: "dense:m", Weight: 1}}}, "has no lane"},
		{"nothing left", retrieve.Request{Text: "a", Weights: text(0)}, "every lane"},
		{"too many", retrieve.Request{Text: "a", Weights: slices.Repeat(text(1), 27)}, "limit 26"},
		{"time without a text", retrieve.Request{Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneTime, Weight: 1}}}, "has no lane"},
		{"no date left", retrieve.Request{Text: "a", Weights: append(text(0), retrieve.LaneWeight{Lane: retrieve.LaneTime, Weight: 1})},
			"every lane"},
		{"dates off", retrieve.Request{Text: "a in 2023", Weights: append(text(0), retrieve.LaneWeight{Lane: retrieve.LaneTime, Weight: 0})},
			"every lane"},
		{"no now", retrieve.Request{Text: "a last week", Weights: text(0)}, "every lane"},
	} {
		m := shelf()
		_, err := Runner{}.Run(t.Context(), m, m, testCommit, c.req)
		var re *retrieve.RequestError
		must.True(t, errors.As(err, &re) && re.Param == "weights" && strings.Contains(re.Reason, c.reason),
			"%s: %v", c.name, err)
	}
	must.Fail(t, (retrieve.Request{Fusion: "max"}).Validate(), retrieve.ErrRequest)
	for x, want := range map[float64]int64{0: 0, 1: 1 << 16, 0.5: 1 << 15, 16: retrieve.MaxWeight,
		1.5 / (1 << 16): 2, math.NaN(): -1, math.Inf(1): -1, -0.5: -1, 17: -1, 1e-9: -1} {
		w, err := retrieve.NewLaneWeight("text", x)
		must.True(t, (err == nil) == (want >= 0) && (err != nil || w.Weight == want), "%g: %d, %v", x, w.Weight, err)
	}
}

package stage

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

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
	if _, err := (Runner{}).Run(t.Context(), newMemory(), newMemory(), testCommit,
		retrieve.Request{ProfileChoice: retrieve.ProfileChoice{Profile: "chat"}}); !errors.Is(err, retrieve.ErrRequest) {
		t.Errorf("without a repository: %v", err)
	}
}

func TestEdgeWeights(t *testing.T) {
	for _, bad := range []float64{-1, 17, math.NaN(), math.Inf(1), 1e-9} {
		_, err := retrieve.NewEdgeWeight("t", bad)
		must.Fail(t, err, retrieve.ErrRequest, bad)
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
		must.Check(t, slices.Contains(got, retrieve.EdgeWeightsUnused), "warnings %v", got)
	}
	if got := codes(m.ask(t, retrieve.Request{Text: "a",
		ExpansionOptions: retrieve.ExpansionOptions{EdgeWeights: weights}})); len(got) > 0 {
		t.Errorf("warnings %v", got)
	}
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
			if err != nil && !(later && errors.Is(err, retrieve.ErrRequest)) {
				t.Fatal(err)
			}
		}
	})
}

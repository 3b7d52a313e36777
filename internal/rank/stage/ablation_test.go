package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

func manyLanes() retrieve.Request {
	return retrieve.Request{
		Text: "charge in May 2023", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"payment"}},
		Vectors: []retrieve.QueryVector{{Model: "d", Values: []int8{1}}},
		Sparse:  []retrieve.SparseVector{{Model: "s", Terms: []graph.Term{{Term: "t", Weight: 1}}}},
		Limit:   new(20), RerankOptions: retrieve.RerankOptions{Rerank: "m"},
	}
}

// TestAlone has every lane, by every fusion: each request is one that runs, with that lane alone.
func TestAlone(t *testing.T) {
	for _, fusion := range retrieve.Fusions() {
		req := manyLanes()
		req.Fusion = fusion
		for _, lane := range Lanes(req) {
			alone, ok := Alone(req, lane)
			if !ok || alone.Validate() != nil || checkLanes(&alone) != nil || *alone.Limit != 20 {
				t.Errorf("%s, %s: %v, %v", fusion, lane, alone.Validate(), checkLanes(&alone))
			}
			for _, l := range Lanes(req) {
				must.Equal(t, Runs(alone, l), l == lane, fusion, ", ", lane, ": ", l, " runs")
			}
			r := alone.Resolve()
			if d := readDates(&r); d.alone != (lane == retrieve.LaneTime) {
				t.Errorf("%s, %s: time alone: %v", fusion, lane, d.alone)
			}
			rest, ok := Without(req, lane)
			if ok != Runs(req, lane) || ok && (rest.Validate() != nil || Runs(rest, lane)) {
				t.Errorf("%s without %s: %v, %v", fusion, lane, ok, rest.Validate())
			}
		}
		must.Check(t, len(req.Weights) <= 0, "the request was changed")
	}
	newest, ok := Alone(manyLanes(), retrieve.LaneRecency)
	must.Check(t, ok && asksNothing(newest) && newest.Validate() == nil && checkRewritten(&newest) == nil,
		"newest: %+v", newest)
	if _, ok := Alone(manyLanes(), "dense:x"); ok {
		t.Error("there is a lane that is not there")
	}
	only := retrieve.Request{Text: "charge"}
	if _, ok := Without(only, retrieve.LaneText); ok {
		t.Error("a request without any lane")
	}
	only.Rewrites, only.Weights = []string{"payment"}, []retrieve.LaneWeight{{Lane: retrieve.LaneRewrite(1), Weight: 0}}
	if _, ok := Without(only, retrieve.LaneRewrite(1)); ok {
		t.Error("a lane that does not run was left out")
	}
}

func TestWeighing(t *testing.T) {
	req := manyLanes()
	req.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 2 * fixed.One}, {Lane: retrieve.LaneTime, Weight: 5}}
	got, ok := weighing(req, "sparse:s", 7)
	want := []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 2 * fixed.One}, {Lane: retrieve.LaneTime, Weight: 5}, {Lane: "sparse:s", Weight: 7}}
	must.Check(t, ok && slices.Equal(got.Weights, want) && len(req.Weights) == 2, "weights %v", got.Weights)
	// Ranks have no weights: with weights all others count as they did.
	req.Fusion, req.Weights = retrieve.RRF, []retrieve.LaneWeight{{Lane: retrieve.LaneTime, Weight: 5}}
	got, ok = weighing(req, "dense:d", 0)
	if !ok || got.Fusion != retrieve.WeightedRRF || got.Validate() != nil {
		t.Errorf("%+v, %v", got, got.Validate())
	}
	for _, lane := range []retrieve.Lane{retrieve.LaneText, "text:1", "sparse:s", retrieve.LaneTime} {
		must.Equal(t, laneWeight(got, lane), laneWeight(req, lane), lane)
	}
	if got, ok = weighing(req, retrieve.LaneTime, 0); !ok || got.Fusion != retrieve.RRF {
		t.Errorf("times: %v, %s", ok, got.Fusion)
	}
}

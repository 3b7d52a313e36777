package retrieve

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
)

func manyLanes() Request {
	return Request{
		Text: "charge in May 2023", Rewrites: []string{"payment"},
		Vectors: []QueryVector{{"d", []int8{1}}},
		Sparse:  []SparseVector{{Model: "s", Terms: []graph.Term{{Term: "t", Weight: 1}}}},
		Limit:   new(20), Rerank: "m",
	}
}

func TestLanes(t *testing.T) {
	want := []Lane{LaneText, LaneTime, "text:1", "dense:d", "sparse:s"}
	if got := manyLanes().Lanes(); !slices.Equal(got, want) {
		t.Errorf("lanes %v", got)
	}
	if got := (Request{Text: "charge"}).Lanes(); !slices.Equal(got, []Lane{LaneText}) {
		t.Errorf("no date: %v", got)
	}
	if got := (Request{Text: " "}).Lanes(); !slices.Equal(got, []Lane{LaneRecency}) {
		t.Errorf("blank: %v", got)
	}
}

// TestAlone has every lane, by every fusion: each request is one that runs, with that lane alone.
func TestAlone(t *testing.T) {
	for _, fusion := range Fusions() {
		req := manyLanes()
		req.Fusion = fusion
		for _, lane := range req.Lanes() {
			alone, ok := req.Alone(lane)
			if !ok || alone.Validate() != nil || alone.checkLanes() != nil || *alone.Limit != 20 {
				t.Errorf("%s, %s: %v, %v", fusion, lane, alone.Validate(), alone.checkLanes())
			}
			for _, l := range req.Lanes() {
				if alone.Runs(l) != (l == lane) {
					t.Errorf("%s, %s: %s runs: %v", fusion, lane, l, alone.Runs(l))
				}
			}
			r := alone.Resolve()
			if d := readDates(&r); d.alone != (lane == LaneTime) {
				t.Errorf("%s, %s: time alone: %v", fusion, lane, d.alone)
			}
			rest, ok := req.Without(lane)
			if ok != req.Runs(lane) || ok && (rest.Validate() != nil || rest.Runs(lane)) {
				t.Errorf("%s without %s: %v, %v", fusion, lane, ok, rest.Validate())
			}
		}
		if len(req.Weights) > 0 {
			t.Error("the request was changed")
		}
	}
	newest, ok := manyLanes().Alone(LaneRecency)
	if !ok || !asksNothing(newest) || newest.Validate() != nil || newest.checkRewritten() != nil {
		t.Errorf("newest: %+v", newest)
	}
	if _, ok := manyLanes().Alone("dense:x"); ok {
		t.Error("there is a lane that is not there")
	}
	only := Request{Text: "charge"}
	if _, ok := only.Without(LaneText); ok {
		t.Error("a request without any lane")
	}
	only.Rewrites, only.Weights = []string{"payment"}, []LaneWeight{{LaneRewrite(1), 0}}
	if _, ok := only.Without(LaneRewrite(1)); ok {
		t.Error("a lane that does not run was left out")
	}
}

func TestWeighing(t *testing.T) {
	req := manyLanes()
	req.Weights = []LaneWeight{{LaneText, 2 * fixed.One}, {LaneTime, 5}}
	got, ok := req.weighing("sparse:s", 7)
	want := []LaneWeight{{LaneText, 2 * fixed.One}, {LaneTime, 5}, {"sparse:s", 7}}
	if !ok || !slices.Equal(got.Weights, want) || len(req.Weights) != 2 {
		t.Errorf("weights %v", got.Weights)
	}
	// Ranks have no weights: with weights all others count as they did.
	req.Fusion, req.Weights = RRF, []LaneWeight{{LaneTime, 5}}
	got, ok = req.weighing("dense:d", 0)
	if !ok || got.Fusion != WeightedRRF || got.Validate() != nil {
		t.Errorf("%+v, %v", got, got.Validate())
	}
	for _, lane := range []Lane{LaneText, "text:1", "sparse:s", LaneTime} {
		if got.weight(lane) != req.weight(lane) {
			t.Errorf("%s: %d, want %d", lane, got.weight(lane), req.weight(lane))
		}
	}
	if got, ok = req.weighing(LaneTime, 0); !ok || got.Fusion != RRF {
		t.Errorf("times: %v, %s", ok, got.Fusion)
	}
}

// TestWithoutVectors drops vectors and the weights of their lanes, and says where nothing is left.
func TestWithoutVectors(t *testing.T) {
	req := manyLanes()
	req.Weights = []LaneWeight{{LaneText, 7}, {LaneDense("d"), 8}, {LaneSparse("s"), 9}}
	rest, ok := req.WithoutVectors()
	if !ok || len(rest.Vectors)+len(rest.Sparse) > 0 || rest.checkLanes() != nil ||
		!slices.Equal(rest.Weights, []LaneWeight{{LaneText, 7}}) {
		t.Errorf("%t %+v", ok, rest)
	}
	if len(req.Weights) != 3 || len(req.Vectors) != 1 {
		t.Errorf("the request was changed: %+v", req)
	}
	req.Text, req.Rewrites, req.Weights = " ", nil, nil
	if _, ok := req.WithoutVectors(); ok {
		t.Error("a request of vectors alone has something without them")
	}
	req = manyLanes()
	req.Rewrites, req.Weights = nil, []LaneWeight{{LaneText, 0}}
	if _, ok := req.WithoutVectors(); ok {
		t.Error("a text without a weight finds something")
	}
}

package stage

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/tuning"
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
			must.True(t, ok && alone.Validate() == nil && checkLanes(&alone) == nil && *alone.Limit == 20,
				"%s, %s: %v, %v", fusion, lane, alone.Validate(), checkLanes(&alone))
			for _, l := range Lanes(req) {
				must.Equal(t, Runs(alone, l), l == lane, fusion, ", ", lane, ": ", l, " runs")
			}
			r := alone.Resolve()
			d := readDates(&r)
			must.True(t, d.alone == (lane == retrieve.LaneTime), "%s, %s: time alone: %v", fusion, lane, d.alone)
			rest, ok := Without(req, lane)
			if ok != Runs(req, lane) || ok && (rest.Validate() != nil || Runs(rest, lane)) {
				t.Errorf("%s without %s: %v, %v", fusion, lane, ok, rest.Validate())
			}
		}
		must.True(t, len(req.Weights) <= 0, "the request was changed")
	}
	newest, ok := Alone(manyLanes(), retrieve.LaneRecency)
	must.True(t, ok && asksNothing(newest) && newest.Validate() == nil && checkRewritten(&newest) == nil,
		"newest: %+v", newest)
	_, ok = Alone(manyLanes(), "dense:x")
	must.True(t, !ok, "there is a lane that is not there")
	only := retrieve.Request{Text: "charge"}
	_, ok = Without(only, retrieve.LaneText)
	must.True(t, !ok, "a request without any lane")
	only.Rewrites, only.Weights = []string{"payment"}, []retrieve.LaneWeight{{Lane: retrieve.LaneRewrite(1), Weight: 0}}
	_, ok = Without(only, retrieve.LaneRewrite(1))
	must.True(t, !ok, "a lane that does not run was left out")
}

func TestWeighing(t *testing.T) {
	req := manyLanes()
	req.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 2 * fixed.One}, {Lane: retrieve.LaneTime, Weight: 5}}
	got, ok := weighing(req, "sparse:s", 7)
	want := []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 2 * fixed.One}, {Lane: retrieve.LaneTime, Weight: 5}, {Lane: "sparse:s", Weight: 7}}
	must.True(t, ok && slices.Equal(got.Weights, want) && len(req.Weights) == 2, "weights %v", got.Weights)
	// Ranks have no weights: with weights all others count as they did.
	req.Fusion, req.Weights = retrieve.RRF, []retrieve.LaneWeight{{Lane: retrieve.LaneTime, Weight: 5}}
	got, ok = weighing(req, "dense:d", 0)
	must.True(t, ok && got.Fusion == retrieve.WeightedRRF && got.Validate() == nil, "%+v, %v", got, got.Validate())
	for _, lane := range []retrieve.Lane{retrieve.LaneText, "text:1", "sparse:s", retrieve.LaneTime} {
		must.Equal(t, laneWeight(got, lane), laneWeight(req, lane), lane)
	}
	got, ok = weighing(req, retrieve.LaneTime, 0)
	must.True(t, ok && got.Fusion == retrieve.RRF, "times: %v, %s", ok, got.Fusion)
}

// TestTuning ranks with a changed constant: the answer has no ranking version, and its receipt is not replayed.
func TestTuning(t *testing.T) {
	m := library()
	req := retrieve.Request{Text: "web", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"spider"}}}
	plain := m.ask(t, req)
	for name, c := range map[string]struct {
		of   *ranking
		want func(*ranking) int64
	}{
		"kin":      {rankingOf(retrieve.PlainRanking), func(r *ranking) int64 { return r.kin }},
		"temporal": {rankingOf(retrieve.RankingVersion), func(r *ranking) int64 { return r.temporal }},
	} {
		tuned := must.Get(tunedRow(c.of.version, &tuning.Constant{Name: name, Value: 12_345}))(t)
		got, own := c.want(tuned), c.want(c.of)
		must.True(t, got == 12_345 && own != got, "%s is %d, in the row %d", name, got, own)
	}
	u := Runner{Tuning: &tuning.Constant{Name: "sure-words", Value: 1 << 17}}
	a := must.Get(u.Run(t.Context(), m, m, testCommit, req))(t)
	must.Equal(t, a.Engine.Ranking, 0, "plain")
	must.Equal(t, plain.Engine, retrieve.CurrentEngine(), "plain")
	receipt, text := a.Receipt()
	must.Fail(t, must.Err(receipt.Request(string(text), req.Rewrites...)), retrieve.ErrRankingVersion)
	u.Tuning = &tuning.Constant{Name: "bands"}
	_, err := u.Run(t.Context(), m, m, testCommit, req)
	must.True(t, err != nil && strings.Contains(err.Error(), `"bands"`) && strings.Contains(err.Error(), "peers, "),
		"a constant that there is not: %v", err)
}

// TestTuningReaches: each name belongs to a different constant.
func TestTuningReaches(t *testing.T) {
	seen := map[ranking]string{}
	for name := range rankingOf(retrieve.RankingVersion).constants() {
		tuned := must.Get(tunedRow(0, &tuning.Constant{Name: name, Value: 12_345}))(t)
		row := *tuned
		if other, ok := seen[row]; ok || row == *rankingOf(retrieve.RankingVersion) {
			t.Errorf("%s changes nothing, or what %q changes", name, other)
		}
		seen[row] = name
	}
}

// TestTuningBands: answers follow the row's constants for bands and for text with vectors.
func TestTuningBands(t *testing.T) {
	ask := func(req retrieve.Request, name string, value int64) retrieve.Item {
		t.Helper()
		m := says("zorb x", "like y")
		m.embed(num(1), "m", 1)
		req.Text, req.Floor, req.Expand = "zorb", retrieve.FloorRest, new(0)
		var u Runner
		if name != "" {
			u.Tuning = &tuning.Constant{Name: name, Value: value}
		}
		a, err := u.Run(t.Context(), m, m, testCommit, req)
		must.Require(t, err == nil && len(a.Items) != 0, "%s: %+v, %v", name, a, err)
		return a.Items[0]
	}
	must.Equal(t, ask(retrieve.Request{}, "", 0).Band, retrieve.BandAnswer, "as it")
	it := ask(retrieve.Request{}, "sure-words", 1<<17)
	must.True(t, it.Band == retrieve.BandMaybe, "where more must be known: %s", it.Band)
	vectors := retrieve.Request{Vectors: vectorOf("m", 1)}
	must.Equal(t, ask(vectors, "text-most", 1).ID, num(1), "where the text weighs less")
	must.Equal(t, ask(vectors, "", 0).ID, num(0), "as it")
}

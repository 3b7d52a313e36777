package stage

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// fusedByHand is clause 9.6 in numbers of any size, without expansion.
func fusedByHand(req retrieve.Request, lists map[retrieve.Lane][]source.Hit) map[graph.ID]int64 {
	var weights int64
	sums := map[graph.ID]*big.Int{}
	for lane, hits := range lists {
		w := int64(1 << 16)
		if lane != retrieve.LaneText && req.Fusion != retrieve.RRF {
			w = 1 << 15 / int64(len(req.Vectors))
		}
		for _, given := range req.Weights {
			if given.Lane == lane {
				w = given.Weight
			}
		}
		if len(hits) == 0 || w == 0 {
			continue
		}
		weights += w
		high, low := hits[0].Score, hits[len(hits)-1].Score
		for i, h := range hits {
			part := big.NewInt(1 << 16)
			switch {
			case req.Fusion == retrieve.RRF || req.Fusion == retrieve.WeightedRRF:
				part.SetInt64(w * 65_536 / int64(61+i))
			case req.Fusion == retrieve.ScoreNorm && high > low:
				part.SetInt64((h.Score - low) * 65_536 / (high - low))
			case req.Fusion == retrieve.Convex:
				part.SetInt64(h.Score * 65_536 / high)
			}
			if sums[h.ID] == nil {
				sums[h.ID] = new(big.Int)
			}
			if !byRanks(req.Fusion) {
				part.Mul(part, big.NewInt(w))
			}
			sums[h.ID].Add(sums[h.ID], part)
		}
	}
	out := map[graph.ID]int64{}
	for id, s := range sums {
		if !byRanks(req.Fusion) {
			s.Quo(s, big.NewInt(weights))
		}
		out[id] = s.Int64()
	}
	return out
}

// TestFusionOracle compares every way of fusing with the formulas, for random lists and weights.
func TestFusionOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	for range 150 {
		m := newMemory()
		m.shuffle = rng
		for i := range 30 {
			id := m.add(graph.Node{ID: num(i), Created: 1,
				Summary: strings.Repeat("a ", rng.IntN(4)) + "b"})
			for _, model := range []string{"m", "n"} {
				if rng.IntN(2) == 0 {
					m.embed(id, model, int8(rng.IntN(9)-4), 1)
				}
			}
		}
		req := retrieve.Request{Text: "a", Limit: new(0), Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
			Fusion:           retrieve.Fusions()[rng.IntN(4)],
			Vectors:          append(vectorOf("m", 2, 3), vectorOf("n", 1, 0)...)}
		if req.Fusion != retrieve.RRF && rng.IntN(2) == 0 {
			req.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: rng.Int64N(retrieve.MaxWeight + 1)},
				{Lane: retrieve.LaneDense("m"), Weight: rng.Int64N(2) * rng.Int64N(1000)}}
		}
		req.Ranking = retrieve.PlainRanking
		lists := map[retrieve.Lane][]source.Hit{}
		full := req
		full.Fusion, full.Weights = retrieve.RRF, nil
		for _, item := range m.ask(t, full).Items {
			for _, l := range item.Lanes {
				lists[l.Lane] = append(lists[l.Lane], source.Hit{ID: item.ID, Score: l.Score})
			}
		}
		for lane := range lists {
			lists[lane] = ranked(lists[lane])
		}
		want := fusedByHand(req, lists)
		got := map[graph.ID]int64{}
		items := m.ask(t, req).Items
		for _, item := range items {
			got[item.ID] = item.Score
		}
		if d := diff(want, got); d != "" {
			t.Fatalf("%s, weights %v: %s", req.Fusion, req.Weights, d)
		}
		if !slices.IsSortedFunc(items, func(a, b retrieve.Item) int {
			return byRank(&candidate{id: a.ID, score: a.Score}, &candidate{id: b.ID, score: b.Score})
		}) {
			t.Fatal("not in order")
		}
	}
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
		if !errors.As(err, &re) || re.Param != "weights" || !strings.Contains(re.Reason, c.reason) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	must.Fail(t, (retrieve.Request{Fusion: "max"}).Validate(), retrieve.ErrRequest)
	for x, want := range map[float64]int64{0: 0, 1: 1 << 16, 0.5: 1 << 15, 16: retrieve.MaxWeight,
		1.5 / (1 << 16): 2, math.NaN(): -1, math.Inf(1): -1, -0.5: -1, 17: -1, 1e-9: -1} {
		w, err := retrieve.NewLaneWeight("text", x)
		if (err == nil) != (want >= 0) || err == nil && w.Weight != want {
			t.Errorf("%g: %d, %v", x, w.Weight, err)
		}
	}
	for _, bad := range []string{`[]`, `{"text":"1"}`, `{"text":-1}`, `{"x":1}`, `{"text":null}`} {
		var re *retrieve.RequestError
		_, err := complete.ParseRequestJSON(parsed(t, `{"weights":`+bad+`}`), retrieve.Request{})
		if !errors.As(err, &re) || re.Param != "weights" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

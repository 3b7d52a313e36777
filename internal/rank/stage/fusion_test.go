package stage

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

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
		must.Check(t, errors.As(err, &re) && re.Param == "weights" && strings.Contains(re.Reason, c.reason),
			"%s: %v", c.name, err)
	}
	must.Fail(t, (retrieve.Request{Fusion: "max"}).Validate(), retrieve.ErrRequest)
	for x, want := range map[float64]int64{0: 0, 1: 1 << 16, 0.5: 1 << 15, 16: retrieve.MaxWeight,
		1.5 / (1 << 16): 2, math.NaN(): -1, math.Inf(1): -1, -0.5: -1, 17: -1, 1e-9: -1} {
		w, err := retrieve.NewLaneWeight("text", x)
		if (err == nil) != (want >= 0) || err == nil && w.Weight != want {
			t.Errorf("%g: %d, %v", x, w.Weight, err)
		}
	}
}

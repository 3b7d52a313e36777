package retrieve

import (
	"errors"
	"testing"

	"github.com/mnem-project/mnem/internal/tuning"
)

// TestTuning ranks with another constant: the answer is of no version, and its receipt is not replayed.
func TestTuning(t *testing.T) {
	m := library()
	req := Request{Text: "web", Rewrites: []string{"spider"}}
	plain := m.ask(t, req)
	for name, c := range map[string]struct {
		of   *ranking
		want func(*ranking) int64
	}{
		"rewrites": {rankingOf(1), func(r *ranking) int64 { return r.rewrites }},
		"temporal": {rankingOf(2), func(r *ranking) int64 { return r.temporal }},
	} {
		tuned := Request{Ranking: c.of.version, Tuning: &tuning.Constant{Name: name, Value: 12_345}}
		if got, own := c.want(tuned.row()), c.want(c.of); got != 12_345 || own == got {
			t.Errorf("%s is %d, in the row %d", name, got, own)
		}
	}
	req.Tuning = &tuning.Constant{Name: "rewrites", Value: 7}
	if got := req.weight(LaneRewrite(1)); got != 7 {
		t.Errorf("rewrites weigh %d", got)
	}
	a := m.ask(t, req)
	if a.Engine.Ranking != 0 || plain.Engine != CurrentEngine() {
		t.Errorf("%s, plain %s", a.Engine, plain.Engine)
	}
	receipt, text := a.Receipt()
	if _, err := receipt.Request(string(text), req.Rewrites...); !errors.Is(err, ErrRankingVersion) {
		t.Errorf("a receipt of it: %v", err)
	}
	refused(t, Request{Tuning: &tuning.Constant{Name: "bands"}}, "ranking", `"bands"`, "rewrites", "temporal")
}

package stage

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/base/tuning"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

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
		must.Check(t, got == 12_345 && own != got, "%s is %d, in the row %d", name, got, own)
	}
	u := Runner{Tuning: &tuning.Constant{Name: "sure-words", Value: 1 << 17}}
	a := must.Get(u.Run(t.Context(), m, m, testCommit, req))(t)
	must.Equal(t, a.Engine.Ranking, 0, "plain")
	must.Equal(t, plain.Engine, retrieve.CurrentEngine(), "plain")
	receipt, text := a.Receipt()
	_, err := receipt.Request(string(text), req.Rewrites...)
	must.Fail(t, err, retrieve.ErrRankingVersion)
	u.Tuning = &tuning.Constant{Name: "bands"}
	_, err = u.Run(t.Context(), m, m, testCommit, req)
	if err == nil || !strings.Contains(err.Error(), `"bands"`) || !strings.Contains(err.Error(), "peers, ") {
		t.Errorf("a constant that there is not: %v", err)
	}
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
	if it := ask(retrieve.Request{}, "sure-words", 1<<17); it.Band != retrieve.BandMaybe {
		t.Errorf("where more must be known: %s", it.Band)
	}
	vectors := retrieve.Request{Vectors: vectorOf("m", 1)}
	must.Equal(t, ask(vectors, "text-most", 1).ID, num(1), "where the text weighs less")
	must.Equal(t, ask(vectors, "", 0).ID, num(0), "as it")
}

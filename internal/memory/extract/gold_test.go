package extract

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
)

// TestGoldEntities scores what texts name.
func TestGoldEntities(t *testing.T) {
	type entity struct {
		Kind  Kind   `json:"kind"`
		Key   string `json:"key"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}
	cases.Gold(t, "testdata/gold/entities.jsonl", 72, func(t testing.TB, c cases.Case) any {
		var in struct {
			Text  string
			Known []string
		}
		cases.Parse(t, c.Input, &in)
		found := []entity{}
		for _, e := range Entities(in.Text, in.Known) {
			found = append(found, entity{e.Kind, e.Key, e.Start, e.End})
		}
		return map[string]any{"entities": found}
	})
}

// TestGoldSignals scores what texts say of causes.
func TestGoldSignals(t *testing.T) {
	cases.Gold(t, "testdata/gold/signals.jsonl", 28, func(t testing.TB, c cases.Case) any {
		var in struct{ Text string }
		cases.Parse(t, c.Input, &in)
		found := []any{}
		for _, g := range Signals(in.Text) {
			found = append(found, map[string]any{"relation": g.Relation, "phrase": g.Phrase, "start": g.Start,
				"cause": g.Cause, "effect": g.Effect})
		}
		return map[string]any{"signals": found}
	})
}

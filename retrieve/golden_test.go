package retrieve

import (
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/internal/cases"
	"github.com/mnem-project/mnem/ipld"
)

// TestPredicateGolden freezes how the text form of a predicate is read.
func TestPredicateGolden(t *testing.T) {
	cases.Golden(t, "testdata/predicate.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Predicate string }
		cases.Parse(t, c.Input, &in)
		p, err := ParsePredicate(in.Predicate)
		if err == nil {
			err = Request{Where: []Predicate{p}}.Validate()
		}
		if refused := refusedGolden(t, err); refused != nil {
			return refused
		}
		got := map[string]any{"name": p.Name, "op": p.Op}
		if p.Edges != "" {
			got["edges"] = p.Edges
		}
		if p.Op.hasValue() {
			got["value"] = json.RawMessage(ipld.AppendJSON(nil, p.Value))
		}
		return got
	})
}

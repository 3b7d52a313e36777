package retrieve

import (
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestPredicateGolden freezes how the text form of a predicate is read and written, and for which values it holds.
func TestPredicateGolden(t *testing.T) {
	cases.Golden(t, "testdata/predicate.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct {
			Predicate string
			Value     json.RawMessage
			Absent    bool // whether the node has no such property
		}
		cases.Parse(t, c.Input, &in)
		p, err := ParsePredicate(in.Predicate)
		if err == nil {
			err = Request{Where: []Predicate{p}}.Validate()
		}
		if refused := refusedGolden(t, err); refused != nil {
			return refused
		}
		again, err := ParsePredicate(p.String())
		must.Equal(t, diff(p, again), "", in.Predicate, " written as ", p)
		must.OK(t, err, in.Predicate, " written as ", p)
		if in.Absent {
			return map[string]any{"holds": p.Holds(ipld.Value{}, false)}
		}
		if in.Value != nil {
			v := must.Get(ipld.ParseJSON(in.Value))(t)
			return map[string]any{"holds": p.Holds(v, true)}
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

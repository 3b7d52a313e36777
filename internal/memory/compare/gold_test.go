package compare

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
)

// TestGoldLikeness scores how like pairs of texts are and what differs between them.
func TestGoldLikeness(t *testing.T) {
	cases.Gold(t, "testdata/gold/likeness.jsonl", 791, func(t testing.TB, c cases.Case) any {
		var in struct{ First, Second string }
		cases.Parse(t, c.Input, &in)
		got := Compare(in.First, in.Second)
		differs := []any{}
		for _, d := range got.Differs {
			differs = append(differs, map[string]any{"kind": d.Kind, "first": d.A, "second": d.B})
		}
		return map[string]any{"likeness": got.Similarity, "differs": differs}
	})
}

package intent

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
)

// TestIntentGolden freezes the intents of questions.
func TestIntentGolden(t *testing.T) {
	names := map[Intent]string{Why: "why", When: "when", Entity: "entity", General: "general"}
	cases.Golden(t, "testdata/intent.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Text string }
		cases.Parse(t, c.Input, &in)
		return map[string]any{"intent": names[Read(in.Text)]}
	})
}

package distill

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestSemGolden freezes the hash of what a text says.
func TestSemGolden(t *testing.T) {
	cases.Golden(t, "testdata/sem.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Text string }
		cases.Parse(t, c.Input, &in)
		sem := must.Get(SemOf(in.Text))(t)
		return map[string]any{"sem": sem.String()}
	})
}

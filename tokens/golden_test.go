package tokens

import (
	"testing"

	"github.com/mnem-project/mnem/internal/cases"
	"github.com/mnem-project/mnem/internal/text"
)

// TestTokensGolden compares counts with js-tiktoken 1.0.21, an independent implementation of the encodings, and
// freezes the estimate.
func TestTokensGolden(t *testing.T) {
	cases.Golden(t, "testdata/tokens.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Text string }
		cases.Parse(t, c.Input, &in)
		got := map[string]int{"estimate": text.EstimateTokens(in.Text)}
		for name, count := range Counters() {
			got[name] = count(in.Text)
		}
		return got
	})
}

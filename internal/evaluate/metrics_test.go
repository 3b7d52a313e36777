package evaluate_test

import (
	"strings"

	"github.com/mnem-project/mnem/internal/evaluate"
)

// texts returns the scores with four decimals, "-" for none.
func texts(s evaluate.Scores) string {
	row := evaluate.Row{Means: s}
	var out []string
	for m := range evaluate.MetricCount {
		text := row.Text(m, 4)
		if text == "" {
			text = "-"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

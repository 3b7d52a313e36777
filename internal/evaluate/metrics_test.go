package evaluate_test

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/evaluate"
)

// items makes ranked items of keys. One that ends in *N has N tokens, others 10.
func items(keys string) []evaluate.Ranked {
	var out []evaluate.Ranked
	for _, key := range strings.Fields(keys) {
		it := evaluate.Ranked{Tokens: 10}
		if name, n, ok := strings.Cut(key, "*"); ok {
			key = name
			_, _ = fmt.Sscan(n, &it.Tokens)
		}
		it.Name, it.ID = key, graph.NodeID(key)
		out = append(out, it)
	}
	return out
}

func query(gold, sessions string) *evaluate.Query {
	q := &evaluate.Query{Sessions: strings.Fields(sessions)}
	for _, key := range strings.Fields(gold) {
		q.Gold = append(q.Gold, graph.NodeID(key))
	}
	return q
}

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

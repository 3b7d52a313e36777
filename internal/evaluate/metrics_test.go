package evaluate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/must"
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

// TestScore compares with figures worked out by hand: R@5, R@10, All@10, MRR, nDCG@10, R@1024 and the figures of
// sessions.
func TestScore(t *testing.T) {
	tests := []struct{ name, items, gold, sessions, want string }{
		{"first", "a b c", "a", "", "1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 - -"},
		{"second", "b a c", "a", "", "1.0000 1.0000 1.0000 0.5000 0.6309 1.0000 - -"},
		{"nothing found", "b c", "a", "", "0.0000 0.0000 0.0000 0.0000 0.0000 0.0000 - -"},
		{"no items", "", "a b", "", "0.0000 0.0000 0.0000 0.0000 0.0000 0.0000 - -"},
		{"half", "x a", "a b", "", "0.5000 0.5000 0.0000 0.5000 0.3869 0.5000 - -"},
		{"fifth and sixth", "1 2 3 4 a b", "a b", "",
			"0.5000 1.0000 1.0000 0.2000 0.4556 1.0000 - -"},
		{"tenth and eleventh", "1 2 3 4 5 6 7 8 9 a b", "a b", "",
			"0.0000 0.5000 0.0000 0.1000 0.1772 1.0000 - -"},
		{"a gold named twice counts once", "a b", "a a", "",
			"1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 - -"},
		{"more gold than ranks", "a b c d e f g h i j k l", "a b c d e f g h i j k l", "",
			"0.4167 0.8333 0.0000 1.0000 1.0000 1.0000 - -"},
		{"tokens: what does not fit is skipped", "x*1000 a*25 b*24 c*1", "a b c", "",
			"1.0000 1.0000 1.0000 0.5000 0.7328 0.3333 - -"},
		{"tokens: exactly full", "x*1000 a*24", "a", "",
			"1.0000 1.0000 1.0000 0.5000 0.6309 1.0000 - -"},
		{"sessions take no rank from turns", "S1 S1:1 S2 S2:1 S1:2", "S1:2", "S1",
			"1.0000 1.0000 1.0000 0.3333 0.5000 1.0000 1.0000 1.0000"},
		{"a session has the rank of its best item", "A:1 B:1 C:1 D:1 E:1 A:2 F F:1", "F:1", "F A",
			"0.0000 1.0000 1.0000 0.1429 0.3333 1.0000 0.5000 1.0000"},
		{"a session's key may have colons", "x:A:1 x:B:1", "x:B:1", "x:B",
			"1.0000 1.0000 1.0000 0.5000 0.6309 1.0000 1.0000 1.0000"},
		{"no turns at all", "S1 S2", "S3:1", "S3 S1",
			"0.0000 0.0000 0.0000 0.0000 0.0000 0.0000 0.5000 0.5000"},
	}
	for _, tt := range tests {
		must.Equal(t, texts(evaluate.Score(query(tt.gold, tt.sessions), items(tt.items))), tt.want, tt.name)
	}
}

func TestMetricNamesAreDistinct(t *testing.T) {
	seen := make(map[string]bool)
	for m := range evaluate.MetricCount {
		for _, name := range []string{m.Name(), m.String()} {
			must.True(t, name != "" && !seen[name], "metric %d has the name %q", m, name)
			seen[name] = true
		}
	}
}

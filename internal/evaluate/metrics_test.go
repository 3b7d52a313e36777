package evaluate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
		got := texts(evaluate.Score(query(tt.gold, tt.sessions), items(tt.items)))
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestScoreEqualsFloats compares with the metrics as they are usually written, in floating point.
func TestScoreEqualsFloats(t *testing.T) {
	const seed = 7
	rnd := rand.New(rand.NewPCG(seed, seed))
	for round := range 500 {
		var ranked []evaluate.Ranked
		for _, n := range rnd.Perm(30)[:rnd.IntN(31)] {
			it := items(fmt.Sprintf("S%d:%d", n%7, n))[0]
			it.Tokens = rnd.IntN(300)
			ranked = append(ranked, it)
		}
		q := &evaluate.Query{Sessions: []string{"S1", "S2"}[:1+rnd.IntN(2)]}
		for _, n := range rnd.Perm(30)[:1+rnd.IntN(14)] {
			q.Gold = append(q.Gold, graph.NodeID(fmt.Sprintf("S%d:%d", n%7, n)))
		}
		want := floatScore(q, ranked)
		got := evaluate.Score(q, ranked)
		for m := range evaluate.MetricCount {
			f, _ := got[m].Float64()
			if math.Abs(f-want[m]) > 1e-12 {
				t.Fatalf("seed %d, round %d: %s is %v, want %v", seed, round, m, f, want[m])
			}
		}
	}
}

func floatScore(q *evaluate.Query, ranked []evaluate.Ranked) (s [evaluate.MetricCount]float64) {
	var got, ideal float64
	var sessions []string
	used := 0
	gold := float64(len(q.Gold))
	for i, it := range ranked {
		rank := i + 1
		if rank <= min(10, len(q.Gold)) {
			ideal += 1 / math.Log2(float64(rank+1))
		}
		session, _, _ := strings.Cut(it.Name, ":")
		if !slices.Contains(sessions, session) {
			sessions = append(sessions, session)
			if n := float64(len(q.Sessions)); slices.Contains(q.Sessions, session) {
				if len(sessions) <= 5 {
					s[evaluate.SessionRecall5] += 1 / n
				}
				s[evaluate.SessionRecall10] += 1 / n
			}
		}
		fits := used+it.Tokens <= 1024
		if fits {
			used += it.Tokens
		}
		if !slices.Contains(q.Gold, it.ID) {
			continue
		}
		if s[evaluate.MRR] == 0 {
			s[evaluate.MRR] = 1 / float64(rank)
		}
		if rank <= 5 {
			s[evaluate.Recall5] += 1 / gold
		}
		if rank <= 10 {
			s[evaluate.Recall10] += 1 / gold
			got += 1 / math.Log2(float64(rank+1))
		}
		if fits {
			s[evaluate.RecallTokens] += 1 / gold
		}
	}
	for rank := len(ranked) + 1; rank <= min(10, len(q.Gold)); rank++ {
		ideal += 1 / math.Log2(float64(rank+1))
	}
	s[evaluate.NDCG10] = got / ideal
	if s[evaluate.Recall10] > 1-1e-9 {
		s[evaluate.All10] = 1
	}
	return s
}

func TestMetricNamesAreDistinct(t *testing.T) {
	seen := make(map[string]bool)
	for m := range evaluate.MetricCount {
		for _, name := range []string{m.Name(), m.String()} {
			if name == "" || seen[name] {
				t.Errorf("metric %d has the name %q", m, name)
			}
			seen[name] = true
		}
	}
}

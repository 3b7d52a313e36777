package evaluate

import (
	"math/big"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
)

// Metric is one measure of how well queries are answered. Each lies between 0 and 1; more is better.
type Metric int

// The metrics, in the order of reports. docs/reference/bench.md defines them.
const (
	Recall5 Metric = iota
	Recall10
	All10
	MRR
	NDCG10
	RecallTokens
	SessionRecall5
	SessionRecall10
	MetricCount // how many there are
)

var metricNames = [MetricCount]struct{ name, label string }{
	{"r5", "R@5"}, {"r10", "R@10"}, {"all10", "All@10"}, {"mrr", "MRR"}, {"ndcg10", "nDCG@10"},
	{"r1024", "R@1024"}, {"session_r5", "session R@5"}, {"session_r10", "session R@10"},
}

// Name returns the metric's name in JSON.
func (m Metric) Name() string { return metricNames[m].name }

// String returns the metric's name for people.
func (m Metric) String() string { return metricNames[m].label }

const (
	near, far = 5, 10 // the ranks that are looked at
	// tokenBudget is the budget of RecallTokens.
	tokenBudget = 1024
)

// discounts are round(10^18/log2(rank+1)) for the ranks from 1 to far: what the known answers at
// these ranks are worth to NDCG10. As integers they are the same on every machine.
var discounts = [far]int64{
	1_000_000_000_000_000_000, 630_929_753_571_457_437, 500_000_000_000_000_000,
	430_676_558_073_393_050, 386_852_807_234_541_587, 356_207_187_108_022_176,
	333_333_333_333_333_333, 315_464_876_785_728_719, 301_029_995_663_981_195,
	289_064_826_317_887_859,
}

// Ranked has the parts of one item of an answer that metrics use.
type Ranked struct {
	ID     graph.ID
	Name   string // the key, or the id's text form if there is none
	Tokens int    // of the rendered text
}

// Scores are the metrics of one query, nil if it has none.
type Scores [MetricCount]*big.Rat

// Score returns the metrics of a query that was answered by items, in rank order and each once.
func Score(q *Query, items []Ranked) Scores {
	turns := items
	if len(q.Sessions) > 0 {
		turns = slices.DeleteFunc(slices.Clone(items), func(it Ranked) bool { return !isTurn(it.Name) })
	}
	gold := make(map[graph.ID]bool, len(q.Gold))
	for _, id := range q.Gold {
		gold[id] = true
	}
	within := func(items []Ranked, n int) int {
		found := 0
		for _, it := range items[:min(n, len(items))] {
			if gold[it.ID] {
				found++
			}
		}
		return found
	}
	s := Scores{
		Recall5:      share(within(turns, near), len(gold)),
		Recall10:     share(within(turns, far), len(gold)),
		All10:        share(within(turns, far)/len(gold), 1),
		MRR:          new(big.Rat),
		NDCG10:       gain(turns, gold),
		RecallTokens: share(within(fitting(items), len(items)), len(gold)),
	}
	if first := slices.IndexFunc(turns, func(it Ranked) bool { return gold[it.ID] }); first >= 0 {
		s[MRR] = share(1, first+1)
	}
	if len(q.Sessions) > 0 {
		ranked := sessionsOf(items)
		s[SessionRecall5] = sessionShare(ranked, q.Sessions, near)
		s[SessionRecall10] = sessionShare(ranked, q.Sessions, far)
	}
	return s
}

func share(part, of int) *big.Rat { return big.NewRat(int64(part), int64(of)) }

// gain returns the discounted gain of the known answers, as a share of the largest there can be.
func gain(items []Ranked, gold map[graph.ID]bool) *big.Rat {
	var got, ideal int64 // at most the sum of discounts, about 4.5 * 10^18
	for i, d := range discounts {
		if i < len(gold) {
			ideal += d
		}
		if i < len(items) && gold[items[i].ID] {
			got += d
		}
	}
	return big.NewRat(got, ideal)
}

// fitting returns the items that fit into tokenBudget, taken in order.
func fitting(items []Ranked) []Ranked {
	var fit []Ranked
	used := 0
	for _, it := range items {
		if used+it.Tokens <= tokenBudget {
			used += it.Tokens
			fit = append(fit, it)
		}
	}
	return fit
}

// isTurn reports whether a key belongs to a turn in a session: of the form SESSION:TURN.
func isTurn(name string) bool { return strings.Contains(name, ":") }

// sessionsOf returns the sessions of items, each at the place of its first item.
func sessionsOf(items []Ranked) []string {
	var ranked []string
	seen := make(map[string]bool)
	for _, it := range items {
		session := it.Name
		if i := strings.LastIndexByte(session, ':'); i >= 0 {
			session = session[:i]
		}
		if !seen[session] {
			seen[session] = true
			ranked = append(ranked, session)
		}
	}
	return ranked
}

func sessionShare(ranked, want []string, n int) *big.Rat {
	found := 0
	for _, s := range ranked[:min(n, len(ranked))] {
		if slices.Contains(want, s) {
			found++
		}
	}
	return share(found, len(want))
}

package evaluate

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// NoCategory is the category of queries that have none.
const NoCategory = "-"

// Report has the figures of the answers to queries.
type Report struct {
	Files      []FilePair
	All        Row   // over all queries of all files
	Categories []Row // by the name of the category, bytewise
}

// FilePair is one pair of files.
type FilePair struct {
	Name      string   `json:"name"`               // without its endings
	Graph     ipld.CID `json:"graph" shape:"null"` // what was known
	Nodes     int      `json:"nodes"`
	Edges     int      `json:"edges"`
	Queries   int      `json:"queries"`
	Questions string   `json:"questions"` // sha256 of the query file in hex digits
}

// Row is the means over some queries.
type Row struct {
	Category string // "" for all
	Queries  int
	Means    Scores // nil if no query has the metric
}

// Text returns a mean with that many decimals, halves rounded up, and "" if there is none.
func (r Row) Text(m Metric, decimals int) string {
	if r.Means[m] == nil {
		return ""
	}
	return r.Means[m].FloatString(decimals)
}

type tally struct {
	queries int
	sums    [MetricCount]big.Rat
	counts  [MetricCount]int
}

func (t *tally) add(s Scores) {
	t.queries++
	for m, score := range s {
		if score != nil {
			t.sums[m].Add(&t.sums[m], score)
			t.counts[m]++
		}
	}
}

func (t *tally) row(category string) Row {
	r := Row{Category: category, Queries: t.queries}
	for m, n := range t.counts {
		if n > 0 {
			r.Means[m] = new(big.Rat).Quo(&t.sums[m], new(big.Rat).SetInt64(int64(n)))
		}
	}
	return r
}

type tallies struct {
	all        tally
	byCategory map[string]*tally
}

func (t *tallies) add(category string, s Scores) {
	category = cmp.Or(category, NoCategory)
	if t.byCategory == nil {
		t.byCategory = make(map[string]*tally)
	}
	of := t.byCategory[category]
	if of == nil {
		of = &tally{}
		t.byCategory[category] = of
	}
	of.add(s)
	t.all.add(s)
}

func (t *tallies) rows() []Row {
	var rows []Row
	for _, category := range slices.Sorted(maps.Keys(t.byCategory)) {
		rows = append(rows, t.byCategory[category].row(category))
	}
	return rows
}

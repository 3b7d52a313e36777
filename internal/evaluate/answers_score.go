package evaluate

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/mnem-project/mnem/retrieve"
)

// AnswerMetric is one measure of what an agent is shown for a question. docs/reference/bench.md defines them.
type AnswerMetric int

// The measures, in the order of reports.
const (
	AnswerRecall1 AnswerMetric = iota
	AnswerRecall5
	AnswerRecall10
	AnswerMRR
	AnswerPrecision
	AnswerTokenPrecision
	AnswerNoise
	AnswerSilent
	AnswerMuted
	AnswerHint
	AnswerStale
	AnswerKnown
	AnswerRight
	AnswerFalse
	AnswerLost
	AnswerItems
	AnswerTokens
	AnswerMetricCount // how many there are
)

var answerMetricNames = [AnswerMetricCount]struct{ name, label string }{
	{"r1", "R@1"}, {"r5", "R@5"}, {"r10", "R@10"}, {"mrr", "MRR"}, {"precision", "prec"},
	{"token_precision", "tprec"}, {"noise", "noise"}, {"silent", "silent"}, {"muted", "muted"},
	{"hint", "hint"}, {"stale", "stale"}, {"known", "known"}, {"right", "right"}, {"false", "false"},
	{"lost", "lost"}, {"items", "items"}, {"tokens", "tokens"},
}

// leading is how many items an answer that is known is read by.
const leading = 2

// Name returns the measure's name in JSON.
func (m AnswerMetric) Name() string { return answerMetricNames[m].name }

// String returns the measure's name for people.
func (m AnswerMetric) String() string { return answerMetricNames[m].label }

// AnswerScores are the measures of one question, nil if it has none.
type AnswerScores [AnswerMetricCount]*big.Rat

// Printed has the parts of one item of an answer that measures use.
type Printed struct {
	Key      string // of a memory, "" for what is none
	Band     retrieve.Band
	Tokens   int
	Outdated bool // it says that another one takes its place
}

// answers reports whether an item is presented as an answer.
func (p Printed) answers() bool { return p.Band == retrieve.BandAnswer || p.Band == "" }

func scoreAnswer(q *question, verdict retrieve.Verdict, items []Printed) (s AnswerScores) {
	tokens := 0
	for _, it := range items {
		tokens += it.Tokens
	}
	s[AnswerItems], s[AnswerTokens] = share(len(items), 1), share(tokens, 1)
	presented := slices.ContainsFunc(items, Printed.answers)
	if len(q.gold) == 0 {
		s[AnswerSilent] = truth(!presented)
		s.judgement(q, verdict, items)
		return s
	}
	s[AnswerMuted] = truth(!presented)
	if !presented {
		s[AnswerHint] = truth(slices.ContainsFunc(items, func(it Printed) bool {
			return it.Band == retrieve.BandMaybe && slices.Contains(q.gold, it.Key)
		}))
	}
	first := slices.IndexFunc(items, func(it Printed) bool { return slices.Contains(q.gold, it.Key) })
	s[AnswerMRR] = new(big.Rat)
	if first >= 0 {
		s[AnswerMRR] = share(1, first+1)
	}
	for m, n := range map[AnswerMetric]int{AnswerRecall1: 1, AnswerRecall5: near, AnswerRecall10: far} {
		s[m] = share(found(q.gold, items[:min(n, len(items))]), min(len(q.gold), n))
	}
	s.precision(q, items, tokens)
	if len(q.old) > 0 {
		s[AnswerStale] = truth(stale(q, items, first))
	}
	s.judgement(q, verdict, items)
	return s
}

// judgement fills in how true a verdict is.
func (s *AnswerScores) judgement(q *question, verdict retrieve.Verdict, items []Printed) {
	switch known := verdict == retrieve.Known; {
	case verdict == "":
	case len(q.gold) == 0:
		s[AnswerFalse] = truth(known)
	default:
		s[AnswerKnown], s[AnswerLost] = truth(known), truth(verdict == retrieve.Unknown)
		if known {
			s[AnswerRight] = truth(found(q.gold, items[:min(leading, len(items))]) > 0)
		}
	}
}

// precision fills in how much of what is printed is needed or welcome.
func (s *AnswerScores) precision(q *question, items []Printed, tokens int) {
	wanted, inTokens := 0, 0
	for _, it := range items {
		if slices.Contains(q.gold, it.Key) || slices.Contains(q.ok, it.Key) {
			wanted++
			inTokens += it.Tokens
		}
	}
	s[AnswerNoise] = share(len(items)-wanted, 1)
	if len(items) > 0 {
		s[AnswerPrecision] = share(wanted, len(items))
		s[AnswerTokenPrecision] = share(inTokens, max(1, tokens))
	}
}

func found(keys []string, items []Printed) (n int) {
	for _, key := range keys {
		if slices.ContainsFunc(items, func(it Printed) bool { return it.Key == key }) {
			n++
		}
	}
	return n
}

// stale reports whether an outdated memory that is not marked so comes before the first item of gold, at
// first, or without it.
func stale(q *question, items []Printed, first int) bool {
	at := slices.IndexFunc(items, func(it Printed) bool {
		return slices.Contains(q.old, it.Key) && !it.Outdated
	})
	return at >= 0 && (first < 0 || at < first)
}

func truth(yes bool) *big.Rat {
	if yes {
		return share(1, 1)
	}
	return new(big.Rat)
}

// AnswersReport is how questions were answered.
type AnswersReport struct {
	Sets      []AnswersSet
	Questions []Asked // in the order of sets and lines
}

// AnswersSet is one set.
type AnswersSet struct {
	Name      string `json:"name"`
	Memories  int    `json:"memories"`
	Questions int    `json:"questions"`
}

// Asked is one question with its measures.
type Asked struct {
	Set            int // the place of its set
	ID, Kind, Text string
	Gold           []string // the keys of what answers it
	Found          []string // the keys of the items, "" for what is no memory
	Verdict        retrieve.Verdict
	Scores         AnswerScores
}

// AnswerFigure is a mean over the questions that have a measure.
type AnswerFigure struct {
	Count int
	mean  *big.Rat
	half  float64 // see Half
}

// Figure returns the mean of a measure over the questions that keep passes, nil if none has it.
func (r *AnswersReport) Figure(m AnswerMetric, keep func(*Asked) bool) *AnswerFigure {
	var sum, squares big.Rat
	n := 0
	for i := range r.Questions {
		x := r.Questions[i].Scores[m]
		if x == nil || !keep(&r.Questions[i]) {
			continue
		}
		n++
		sum.Add(&sum, x)
		squares.Add(&squares, new(big.Rat).Mul(x, x))
	}
	if n == 0 {
		return nil
	}
	f := &AnswerFigure{Count: n, mean: new(big.Rat).Quo(&sum, share(n, 1))}
	if n > 1 { // (sum of squares - sum * mean) / (n - 1) / n is the variance of the mean
		sum.Mul(&sum, f.mean)
		squares.Sub(&squares, &sum)
		x, _ := squares.Quo(&squares, share((n-1)*n, 1)).Float64()
		f.half = normalInterval * math.Sqrt(x)
	}
	return f
}

// normalInterval is how many standard errors on each side hold 95 of 100.
const normalInterval = 1.96

// Text returns the mean with that many decimals.
func (f *AnswerFigure) Text(decimals int) string {
	x, _ := f.mean.Float64() // the nearest one, on every machine
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// Half returns half of the interval of 95% of the mean with that many decimals.
func (f *AnswerFigure) Half(decimals int) string {
	return strconv.FormatFloat(f.half, 'f', decimals, 64)
}

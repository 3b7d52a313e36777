package evaluate

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// printed makes items of words like "a:maybe:7" or "old!": key, band, tokens, and whether it says that it is outdated.
func printed(words string) (items []Printed) {
	for _, word := range strings.Fields(words) {
		word, outdated := strings.CutSuffix(word, "!")
		key, band, _ := strings.Cut(word, ":")
		it := Printed{Key: strings.Trim(key, "-"), Band: retrieve.Band(band), Tokens: 10, Outdated: outdated}
		if band == "" {
			it.Band = retrieve.BandAnswer
		}
		if band == "none" {
			it.Band = ""
		}
		items = append(items, it)
	}
	return items
}

// TestScoreAnswer scores lists by hand.
func TestScoreAnswer(t *testing.T) {
	one := &question{gold: []string{"g"}, ok: []string{"k"}}
	two := &question{gold: []string{"g", "h"}}
	update := &question{gold: []string{"g"}, old: []string{"o"}}
	for _, c := range []struct {
		name  string
		q     *question
		items string
		want  string
	}{
		{"first", one, "g", "r1 1 r5 1 r10 1 mrr 1 precision 1 token_precision 1 noise 0 muted 0 items 1 tokens 10"},
		{"third, with a welcome one and no memory", one, "- k g",
			"r1 0 r5 1 r10 1 mrr 1/3 precision 2/3 token_precision 2/3 noise 1 muted 0 items 3 tokens 30"},
		{"sixth", one, "a b c d e g",
			"r1 0 r5 0 r10 1 mrr 1/6 precision 1/6 token_precision 1/6 noise 5 muted 0 items 6 tokens 60"},
		{"eleventh", one, "a b c d e f i j l m g",
			"r1 0 r5 0 r10 0 mrr 1/11 precision 1/11 token_precision 1/11 noise 10 muted 0 items 11 tokens 110"},
		{"nothing", one, "", "r1 0 r5 0 r10 0 mrr 0 noise 0 muted 1 hint 0 items 0 tokens 0"},
		{"two, one of them", two, "g x",
			"r1 1 r5 1/2 r10 1/2 mrr 1 precision 1/2 token_precision 1/2 noise 1 muted 0 items 2 tokens 20"},
		{"not sure", one, "x:maybe g:maybe",
			"r1 0 r5 1 r10 1 mrr 1/2 precision 1/2 token_precision 1/2 noise 1 muted 1 hint 1 items 2 tokens 20"},
		{"not sure and not it", one, "x:maybe g:rest",
			"r1 0 r5 1 r10 1 mrr 1/2 precision 1/2 token_precision 1/2 noise 1 muted 1 hint 0 items 2 tokens 20"},
		{"without bands", one, "x:none",
			"r1 0 r5 0 r10 0 mrr 0 precision 0 token_precision 0 noise 1 muted 0 items 1 tokens 10"},
		{"silent", &question{}, "x:maybe", "silent 1 items 1 tokens 10"},
		{"not silent", &question{}, "x:maybe y", "silent 0 items 2 tokens 20"},
		{"stale", update, "o g", "r1 0 r5 1 r10 1 mrr 1/2 precision 1/2 token_precision 1/2 noise 1 muted 0 stale 1 items 2 tokens 20"},
		{"stale without gold", update, "x o",
			"r1 0 r5 0 r10 0 mrr 0 precision 0 token_precision 0 noise 2 muted 0 stale 1 items 2 tokens 20"},
		{"said to be outdated", update, "o! g",
			"r1 0 r5 1 r10 1 mrr 1/2 precision 1/2 token_precision 1/2 noise 1 muted 0 stale 0 items 2 tokens 20"},
		{"behind", update, "g o", "r1 1 r5 1 r10 1 mrr 1 precision 1/2 token_precision 1/2 noise 1 muted 0 stale 0 items 2 tokens 20"},
	} {
		var got []string
		for m, x := range scoreAnswer(c.q, "", printed(c.items)) {
			if x != nil {
				got = append(got, AnswerMetric(m).Name(), x.RatString())
			}
		}
		must.Same(t, strings.Join(got, " "), c.want, c.name)
	}
}

// TestJudgement scores verdicts: by the gold among the first two items where there is some, else by known alone.
func TestJudgement(t *testing.T) {
	gold := &question{gold: []string{"g"}}
	for _, c := range []struct {
		q       *question
		verdict retrieve.Verdict
		items   string
		want    string
	}{
		{gold, retrieve.Known, "x g", "known 1 right 1 lost 0"},
		{gold, retrieve.Known, "x y g", "known 1 right 0 lost 0"},
		{gold, retrieve.Known, "x", "known 1 right 0 lost 0"},
		{gold, retrieve.Unsure, "g", "known 0 lost 0"},
		{gold, retrieve.Unknown, "g", "known 0 lost 1"},
		{gold, "", "g", ""},
		{&question{}, retrieve.Known, "x", "false 1"},
		{&question{}, retrieve.Unsure, "x", "false 0"},
		{&question{}, "", "x", ""},
	} {
		scores := scoreAnswer(c.q, c.verdict, printed(c.items))
		var got []string
		for _, m := range []AnswerMetric{AnswerKnown, AnswerRight, AnswerFalse, AnswerLost} {
			if x := scores[m]; x != nil {
				got = append(got, m.Name(), x.RatString())
			}
		}
		must.Same(t, strings.Join(got, " "), c.want, c.verdict, " ", c.items)
	}
}

// TestFigures averages, and rounds as programs that count in floats do.
func TestFigures(t *testing.T) {
	r := &AnswersReport{}
	for i := range 16 {
		var s AnswerScores
		s[AnswerRecall1] = truth(i == 0)
		if i < 2 {
			s[AnswerSilent] = truth(i == 0)
		}
		r.Questions = append(r.Questions, Asked{Set: i, Scores: s})
	}
	all := func(*Asked) bool { return true }
	for _, c := range []struct {
		m    AnswerMetric
		keep func(*Asked) bool
		want string
	}{
		{AnswerRecall1, all, "16 0.062 0.0625 ±0.122"}, // a tie goes to the even digit
		{AnswerSilent, all, "2 0.500 0.5000 ±0.980"},
		{AnswerSilent, func(q *Asked) bool { return q.Set == 0 }, "1 1.000 1.0000 ±0.000"},
		{AnswerStale, all, "none"},
	} {
		got := "none"
		if f := r.Figure(c.m, c.keep); f != nil {
			got = strings.Join([]string{strconv.Itoa(f.Count), f.Text(3), f.Text(4), "±" + f.Half(3)}, " ")
		}
		must.Equal(t, got, c.want, c.m)
	}
}

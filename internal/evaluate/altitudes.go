package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// broadEnd is the end of the name of a file of broad questions.
const broadEnd = ".broad.jsonl"

const (
	maxPoints     = 64 // of a broad question
	maxWordings   = 8  // of a point
	rareEvidence  = 50 // a term is rare that one of so many nodes has at most
	maxBroadLines = 10_000
)

// BroadQuestion asks for much at once: Points are what may be said in answer, each in one of several wordings.
type BroadQuestion struct {
	ID, Text string
	Points   [][]string
	Line     int
}

// ReadBroad reads a file of broad questions.
func ReadBroad(in io.Reader, file string) (out []BroadQuestion, err error) {
	first := map[string]int{}
	err = readLines(in, file, func(line []byte, n int) error {
		one := BroadQuestion{Line: n}
		err := members{"qid": intoText(&one.ID), "text": intoText(&one.Text), "points": one.points}.read(line)
		if err != nil {
			return err
		}
		if at, twice := first[one.ID]; twice {
			return graph.Fieldf("qid", "%q is on line %d", one.ID, at)
		}
		if len(out) == maxBroadLines {
			return graph.Fieldf("", "more than %d questions in one file", maxBroadLines)
		}
		first[one.ID] = n
		out = append(out, one)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = graph.Fieldf(file, "no questions")
	}
	return out, err
}

func (q *BroadQuestion) points(v ipld.Value) error {
	if v.Kind() != ipld.List || len(v.List()) == 0 || len(v.List()) > maxPoints {
		return graph.Fieldf("", "want a list of 1 to %d points", maxPoints)
	}
	for i, item := range v.List() {
		var wordings []string
		if err := intoTexts(&wordings)(item); err != nil {
			return graph.Fieldf("", "point %d: %v", i+1, err)
		}
		if len(wordings) == 0 || len(wordings) > maxWordings {
			return graph.Fieldf("", "point %d: want 1 to %d wordings", i+1, maxWordings)
		}
		q.Points = append(q.Points, wordings)
	}
	return nil
}

// covered counts the points that a text makes, upper and lower case alike.
func (q *BroadQuestion) covered(printed string) (n int) {
	printed = strings.ToLower(printed)
	for _, wordings := range q.Points {
		if slices.ContainsFunc(wordings, func(w string) bool { return strings.Contains(printed, strings.ToLower(w)) }) {
			n++
		}
	}
	return n
}

// AltitudeRow is what is printed from one altitude, over all questions that have the figure.
type AltitudeRow struct {
	Altitude  retrieve.Altitude
	Questions int      // with evidence
	Evidence  *big.Rat // mean share of its rare terms and numbers that are printed, nil for none
	Tokens    *big.Rat // mean of these answers
	Digests   int      // answers of these that have one
	Broad     int      // broad questions
	Points    *big.Rat // mean share of their points that are printed, nil for none
	Broader   *big.Rat // mean tokens of these answers
	Each      *big.Rat // points for 100 tokens of all of them together
	Above     int      // answers of these that have a digest
}

// Altitudes answers the questions of all files NAME.queries.jsonl and NAME.broad.jsonl in the root of a file
// system from NAME.changes.jsonl, from each altitude.
func Altitudes(ctx context.Context, dir fs.FS, opt Options) ([]AltitudeRow, error) {
	if opt.Progress == nil {
		opt.Progress = func(string, int, int) {}
	}
	a := &altitudes{runner: runner{dir: dir, opt: opt, report: &Report{}}}
	for _, at := range retrieve.Altitudes() {
		a.sums = append(a.sums, altitudeSums{at: at})
	}
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		opt.Progress("repositories:", i, len(names))
		if err := a.one(ctx, name); err != nil {
			return nil, err
		}
	}
	var rows []AltitudeRow
	for i := range a.sums {
		rows = append(rows, a.sums[i].row())
	}
	return rows, nil
}

type altitudes struct {
	runner
	sums []altitudeSums
}

// altitudeSums are sums of what is printed from an altitude.
type altitudeSums struct {
	at                        retrieve.Altitude
	evidence, points          big.Rat
	questions, tokens         int64
	broad, broader, made      int64
	withDigest, broadWithThem int
}

func (s *altitudeSums) row() AltitudeRow {
	row := AltitudeRow{
		Altitude: s.at, Questions: int(s.questions), Digests: s.withDigest, Broad: int(s.broad), Above: s.broadWithThem,
	}
	if s.questions > 0 {
		row.Evidence = new(big.Rat).Quo(&s.evidence, big.NewRat(s.questions, 1))
		row.Tokens = big.NewRat(s.tokens, s.questions)
	}
	if s.broad > 0 {
		row.Points = new(big.Rat).Quo(&s.points, big.NewRat(s.broad, 1))
		row.Broader = big.NewRat(s.broader, s.broad)
		row.Each = big.NewRat(100*s.made, max(1, s.broader))
	}
	return row
}

// names returns the names that have questions, sorted.
func (a *altitudes) names() ([]string, error) {
	var out []string
	for _, end := range []string{queriesEnd, broadEnd} {
		found, err := fs.Glob(a.dir, "*"+end)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			out = append(out, strings.TrimSuffix(name, end))
		}
	}
	if len(out) == 0 {
		return nil, graph.Fieldf(path.Join(a.opt.Shown, "."), "no file NAME%s or NAME%s", queriesEnd, broadEnd)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (a *altitudes) one(ctx context.Context, name string) (err error) {
	s, rp, err := a.build(ctx, name)
	if rp != nil {
		defer func() { err = errors.Join(err, rp.Close()) }()
	}
	if err != nil {
		return err
	}
	if _, err := fs.Stat(a.dir, name+queriesEnd); err == nil {
		if err := a.evidence(ctx, s, name); err != nil {
			return err
		}
	}
	if _, err := fs.Stat(a.dir, name+broadEnd); err != nil {
		return nil
	}
	return a.open(name+broadEnd, func(f io.Reader, file string) error {
		questions, err := ReadBroad(f, file)
		for i := range questions {
			if err != nil {
				break
			}
			if err = a.broad(ctx, s, &questions[i]); err != nil {
				err = &graph.LineError{File: file, Line: questions[i].Line, Err: err}
			}
		}
		return err
	})
}

// broad asks a broad question.
func (a *altitudes) broad(ctx context.Context, s *repo.Snapshot, q *BroadQuestion) error {
	for i := range a.sums {
		sum := &a.sums[i]
		req := a.opt.Base
		req.Text, req.Altitude = q.Text, sum.at
		answer, printed, err := a.printed(ctx, s, req)
		if err != nil {
			return err
		}
		n := q.covered(printed)
		sum.points.Add(&sum.points, share(n, len(q.Points)))
		sum.broad++
		sum.made += int64(n)
		sum.broader += int64(answer.TokensUsed)
		if len(answer.Digests) > 0 {
			sum.broadWithThem++
		}
	}
	return nil
}

// printed returns an answer and what is printed of it.
func (a *altitudes) printed(
	ctx context.Context, s *repo.Snapshot, req retrieve.Request,
) (*retrieve.Answer, string, error) {
	req, err := a.opt.Profiles.Apply(req)
	if err != nil {
		return nil, "", err
	}
	answer, err := s.Retrieve(ctx, req)
	if err != nil {
		return nil, "", err
	}
	var b strings.Builder
	for i := range answer.Digests {
		b.WriteString(answer.Digests[i].Rendered)
	}
	for i := range answer.Items {
		b.WriteString(answer.Items[i].Rendered)
	}
	return answer, b.String(), nil
}

// evidence asks the questions of a pair whose evidence is known.
func (a *altitudes) evidence(ctx context.Context, s *repo.Snapshot, name string) error {
	queries, _, err := a.queries(name)
	if err != nil {
		return err
	}
	analyser, err := text.New("en")
	if err != nil {
		return err
	}
	texts, common, err := termsOfNodes(ctx, s, analyser)
	if err != nil {
		return err
	}
	for i := range queries {
		q := &queries[i]
		err := known(ctx, s, q)
		for at := range a.sums {
			if err != nil {
				break
			}
			err = a.ask(ctx, s, q, &a.sums[at], analyser, rareTerms(q.Gold, texts, common))
		}
		if err != nil {
			return &graph.LineError{File: a.shown(name + queriesEnd), Line: q.Line, Err: err}
		}
	}
	return nil
}

func (a *altitudes) ask(
	ctx context.Context, s *repo.Snapshot, q *Query, sum *altitudeSums, analyser *text.Analyzer, want map[string]bool,
) error {
	if len(want) == 0 {
		return nil
	}
	req := q.Request
	req.Altitude = sum.at
	answer, printed, err := a.printed(ctx, s, req)
	if err != nil {
		return err
	}
	got := map[string]bool{}
	for _, term := range analyser.Terms(printed) {
		if want[term] {
			got[term] = true
		}
	}
	sum.evidence.Add(&sum.evidence, share(len(got), len(want)))
	sum.questions++
	sum.tokens += int64(answer.TokensUsed)
	if len(answer.Digests) > 0 {
		sum.withDigest++
	}
	return nil
}

// termsOfNodes returns the terms of the summary of each node, and which of them are common.
func termsOfNodes(
	ctx context.Context, s *repo.Snapshot, analyser *text.Analyzer,
) (texts map[graph.ID][]string, common map[string]bool, err error) {
	texts, counts := map[graph.ID][]string{}, map[string]int{}
	for n, err := range s.Nodes(ctx, graph.ID{}) {
		if err != nil {
			return nil, nil, fmt.Errorf("read nodes: %w", err)
		}
		terms := slices.Compact(slices.Sorted(slices.Values(analyser.Terms(n.Node.Summary))))
		texts[n.Node.ID] = terms
		for _, t := range terms {
			counts[t]++
		}
	}
	common = map[string]bool{}
	for t, n := range counts {
		if n*rareEvidence > len(texts) && n > 1 && !strings.ContainsAny(t, "0123456789") {
			common[t] = true
		}
	}
	return texts, common, nil
}

// rareTerms returns the terms of nodes that are not common.
func rareTerms(of []graph.ID, texts map[graph.ID][]string, common map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, id := range of {
		for _, t := range texts[id] {
			if !common[t] {
				out[t] = true
			}
		}
	}
	return out
}

package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// summariesEnd is the end of the name of a file of written summaries.
const summariesEnd = ".summaries.jsonl"

// DigestMethod is the method of digests; the others are baselines.
const DigestMethod = "digest"

// DigestOptions says what is measured. The zero value works.
type DigestOptions struct {
	Weights  distill.Weights // of digests; those that are all 0 stand for the usual ones
	Shown    string          // what messages call the directory, "" for nothing
	Progress func(what string, done, total int)
}

// DigestScore is what the methods made of one scope.
type DigestScore struct {
	File   int // of the report
	Scope  string
	Rouge  []Rouge // by method
	Tokens []int   // by method
}

// DigestReport compares digests of scopes, and what the baselines choose of the same sentences in as many
// tokens, with written summaries.
type DigestReport struct {
	Files   []string // without their endings
	Methods []string // digests first
	Scopes  []DigestScore
}

// DigestRow is the means of a method over some scopes.
type DigestRow struct {
	Scopes         int
	One, L, Tokens *big.Rat
}

// Row returns the means of a method over the scopes that are to be kept, nil where there are none.
func (r *DigestReport) Row(method int, keep func(*DigestScore) bool) *DigestRow {
	row := &DigestRow{0, new(big.Rat), new(big.Rat), new(big.Rat)}
	for i := range r.Scopes {
		if s := &r.Scopes[i]; keep(s) {
			row.Scopes++
			row.One.Add(row.One, s.Rouge[method].One)
			row.L.Add(row.L, s.Rouge[method].L)
			row.Tokens.Add(row.Tokens, big.NewRat(int64(s.Tokens[method]), 1))
		}
	}
	if row.Scopes == 0 {
		return nil
	}
	for _, sum := range []*big.Rat{row.One, row.L, row.Tokens} {
		sum.Quo(sum, big.NewRat(int64(row.Scopes), 1))
	}
	return row
}

// Gain returns the baseline with the highest mean ROUGE-L, and by how much digests are above it.
func (r *DigestReport) Gain() (best int, gain *Gain) {
	all := func(*DigestScore) bool { return true }
	best = 1
	for m := 2; m < len(r.Methods); m++ {
		if r.Row(m, all).L.Cmp(r.Row(best, all).L) > 0 {
			best = m
		}
	}
	var differences []*big.Rat
	for _, s := range r.Scopes {
		differences = append(differences, new(big.Rat).Sub(s.Rouge[0].L, s.Rouge[best].L))
	}
	return best, Bootstrap(differences)
}

// Summary is a line of a file of written summaries.
type Summary struct {
	Scope, Text string
	Line        int
}

// ReadSummaries reads a file of written summaries.
func ReadSummaries(in io.Reader, file string) (out []Summary, err error) {
	first := map[string]int{}
	err = readLines(in, file, func(line []byte, n int) error {
		one := Summary{Line: n}
		err := members{
			"session": intoText(&one.Scope), "summary": intoText(&one.Text),
			"events?": func(ipld.Value) error { return nil },
		}.read(line)
		if err != nil {
			return err
		}
		if at, twice := first[one.Scope]; twice {
			return graph.Fieldf("session", "%q is on line %d", one.Scope, at)
		}
		first[one.Scope] = n
		out = append(out, one)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = graph.Fieldf(file, "no summaries")
	}
	return out, err
}

// Digests compares the digests of all pairs NAME.changes.jsonl and NAME.summaries.jsonl in the root of a file
// system. Each pair is a repository of its own, which is in memory and gone afterwards.
func Digests(ctx context.Context, dir fs.FS, opt DigestOptions) (*DigestReport, error) {
	if opt.Progress == nil {
		opt.Progress = func(string, int, int) {}
	}
	names, err := fs.Glob(dir, "*"+summariesEnd)
	var perr *fs.PathError
	if errors.As(err, &perr) && opt.Shown != "" {
		err = fmt.Errorf("read directory %s: %w", opt.Shown, perr.Err)
	}
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, graph.Fieldf(path.Join(opt.Shown, "."), "no file NAME%s", summariesEnd)
	}
	slices.Sort(names)
	d := &digesting{dir: dir, opt: opt, report: &DigestReport{Methods: []string{DigestMethod}}}
	for _, b := range baselines {
		d.report.Methods = append(d.report.Methods, b.name)
	}
	for i, name := range names {
		opt.Progress("conversations:", i, len(names))
		if err := d.pair(ctx, strings.TrimSuffix(name, summariesEnd)); err != nil {
			return nil, err
		}
	}
	return d.report, nil
}

type digesting struct {
	dir    fs.FS
	opt    DigestOptions
	report *DigestReport
}

func (d *digesting) pair(ctx context.Context, name string) (err error) {
	var list []Summary
	file := path.Join(d.opt.Shown, name+summariesEnd)
	err = openFile(d.dir, name+summariesEnd, file, func(f io.Reader, file string) (err error) {
		list, err = ReadSummaries(f, file)
		return err
	})
	if err != nil {
		return err
	}
	by := Stamp()
	r, err := repo.New(ctx, mem.New(), by, repo.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var head ipld.CID
	err = openFile(d.dir, name+changesEnd, path.Join(d.opt.Shown, name+changesEnd), func(f io.Reader, file string) error {
		res, err := r.Commit(ctx, repo.ReadChanges(f, file), repo.CommitOptions{Stamp: by, Message: "what is summarized"})
		if err == nil {
			head = res.Commit
		}
		return err
	})
	if err != nil {
		return err
	}
	s, err := r.At(ctx, head)
	if err != nil {
		return err
	}
	digests, err := s.Digests(ctx, distill.Default(), repo.DigestOptions{})
	if err != nil {
		return err
	}
	if d.opt.Weights != (distill.Weights{}) {
		if digests, err = weighed(ctx, digests, d.opt.Weights); err != nil {
			return err
		}
	}
	for i := range list {
		if err := d.scope(ctx, digests, &list[i]); err != nil {
			return &graph.LineError{File: file, Line: list[i].Line, Err: err}
		}
	}
	d.report.Files = append(d.report.Files, name)
	return nil
}

// scope compares what is made of one scope with what was written of it.
func (d *digesting) scope(ctx context.Context, digests *repo.Digests, want *Summary) error {
	top, link, err := digests.Top(ctx, digests.Blocks, graph.NodeID(want.Scope))
	if err != nil {
		return err
	}
	if top == nil {
		return graph.Fieldf("session", "nothing is in %q", want.Scope)
	}
	if len(rougeWords(want.Text)) == 0 {
		return graph.Fieldf("summary", "no word of ASCII")
	}
	facts, _, err := below(ctx, digests, link)
	if err != nil {
		return err
	}
	analyser, err := text.New("en")
	if err != nil {
		return err
	}
	own := graph.NodeID(want.Scope) // what a scope says of itself is its beginning
	slices.SortStableFunc(facts, func(a, b *distill.Fact) int {
		switch {
		case a.ID == own && b.ID != own:
			return -1
		case b.ID == own && a.ID != own:
			return 1
		}
		return 0
	})
	var sentences []distill.Sentence
	for _, f := range facts {
		sentences = append(sentences, f.Sentences()...)
	}
	terms := make([][]string, len(sentences))
	for i := range sentences {
		terms[i] = analyser.Terms(sentences[i].Text)
	}
	score := DigestScore{File: len(d.report.Files), Scope: want.Scope}
	add := func(list []distill.Sentence) {
		score.Rouge = append(score.Rouge, ScoreRouge(want.Text, distill.JoinText(list)))
		n := 0
		for _, s := range list {
			n += text.EstimateTokens(s.Text)
		}
		score.Tokens = append(score.Tokens, n)
	}
	add(top.Text)
	for _, b := range baselines {
		add(fitSentences(sentences, b.order(sentences, terms), distill.ClusterTokens))
	}
	d.report.Scopes = append(d.report.Scopes, score)
	return nil
}

// below returns the facts that are below a digest, the earliest first, and the scopes.
func below(
	ctx context.Context, digests *repo.Digests, link ipld.CID,
) (facts []*distill.Fact, scopes []graph.ID, err error) {
	seen := map[graph.ID]bool{}
	err = distill.Walk(ctx, digests.Blocks, link, func(c ipld.CID) (bool, error) {
		one, err := distill.Read(ctx, digests.Blocks, c)
		if err != nil {
			return false, err
		}
		for _, e := range one.Entries {
			id := e.Key.ID()
			switch {
			case e.Link.Defined():
				scopes = append(scopes, id)
			case !seen[id]:
				seen[id] = true
				f, err := digests.Reader.Fact(ctx, id)
				if err != nil {
					return false, err
				}
				facts = append(facts, f)
			}
		}
		return true, nil
	})
	slices.SortFunc(facts, func(a, b *distill.Fact) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), a.ID.Compare(b.ID))
	})
	return facts, scopes, err
}

// weighed returns digests that are made with other weights.
func weighed(ctx context.Context, from *repo.Digests, w distill.Weights) (*repo.Digests, error) {
	facts, touched, err := below(ctx, from, from.Root)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		touched = append(touched, f.ID)
	}
	blocks := store.NewStage(mem.New().Derived(), 0)
	none, err := prolly.NewNodes(blocks, nil).Build(ctx, func(func(prolly.Entry, error) bool) {})
	if err != nil {
		return nil, err
	}
	u := distill.Update{
		Blocks: blocks, Recipe: from.Recipe, Weights: w, Base: distill.Tree{Scopes: none, Hashes: none},
		Old: nothing{}, New: from.Reader,
		Touched: func(yield func(graph.ID, error) bool) {
			for _, id := range touched {
				if !yield(id, nil) {
					return
				}
			}
		},
	}
	out := *from
	out.Blocks = blocks
	out.Tree, out.Work, err = u.Run(ctx)
	return &out, err
}

// nothing is a graph without a node.
type nothing struct{}

func (nothing) Fact(context.Context, graph.ID) (*distill.Fact, error)  { return nil, nil }
func (nothing) Up(context.Context, graph.ID) ([]distill.Target, error) { return nil, nil }
func (nothing) Down(context.Context, graph.ID) iter.Seq2[graph.ID, error] {
	return func(func(graph.ID, error) bool) {}
}

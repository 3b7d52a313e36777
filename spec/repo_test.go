package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store/mem"
)

// forest stands for many lines: README.md, "Changes".
type forest struct {
	Count, Fanout int
	State         string
}

func (f *forest) lines() []string {
	var out []string
	if f == nil {
		return nil
	}
	for i := range f.Count {
		out = append(out, fmt.Sprintf(`{"node":{"key":"n%d","type":"T"}}`, i))
	}
	for i := 1; i < f.Count; i++ {
		out = append(out, fmt.Sprintf(`{"edge":{"type":"t","src":"n%d","dst":"n%d"}}`,
			(i-1)/f.Fanout, i))
	}
	for i := 1; i < f.Count && f.State != ""; i++ {
		out = append(out, fmt.Sprintf(`{"mark":{"node":"n%d","state":"%s"}}`, i, f.State))
	}
	return out
}

type changesInput struct {
	Author  string
	Batches []struct {
		Time   int64
		Lines  []string
		Forest *forest
		Pad    int // length to which the last line is padded with spaces
	}
	Request json.RawMessage
	Commit  string
}

type report struct {
	Nodes, Edges          [3]int
	Duplicates, Unchanged int
}

// applied is a repository after batches, and what they reported.
type applied struct {
	repo    *repo.Repo
	reports []report
	failed  int // the batch that was refused, from 1
	err     error
}

func apply(t *testing.T, in changesInput) applied {
	t.Helper()
	by := repo.Stamp{Author: in.Author, Command: []string{"test"}}
	r, err := repo.New(t.Context(), mem.New(), by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := applied{repo: r}
	t.Cleanup(func() { closeClean(t, r) })
	for i, b := range in.Batches {
		by.Time = graph.Time(b.Time)
		lines := append(b.Forest.lines(), b.Lines...)
		if last := len(lines) - 1; b.Pad > 0 {
			lines[last] += strings.Repeat(" ", b.Pad-len(lines[last]))
		}
		changes := repo.ReadChanges(strings.NewReader(strings.Join(lines, "\n")+"\n"), "lines")
		res, err := r.Commit(t.Context(), changes, repo.CommitOptions{Stamp: by})
		if err != nil {
			a.failed, a.err = i+1, err
			return a
		}
		n, e := res.Nodes, res.Edges
		a.reports = append(a.reports, report{Nodes: [3]int{n.Added, n.Changed, n.Removed},
			Edges:      [3]int{e.Added, e.Changed, e.Removed},
			Duplicates: res.Duplicates, Unchanged: res.Unchanged})
	}
	return a
}

// closeClean closes a repository that a full check finds nothing wrong with.
func closeClean(t *testing.T, r *repo.Repo) {
	report, err := r.Fsck(context.Background(), repo.FsckOptions{Full: true})
	if err != nil {
		t.Errorf("fsck: %v", err)
	} else {
		for _, e := range report.Errors {
			t.Errorf("fsck: %s %s: %s", e.Kind, e.CID, e.Message)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// tip is the snapshot of HEAD, nil where there is no commit yet.
func (a applied) tip(t *testing.T) *repo.Snapshot {
	t.Helper()
	_, c, err := a.repo.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !c.Defined() {
		return nil
	}
	s, err := a.repo.At(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func runChanges(t *testing.T, v vector) {
	var in changesInput
	parse(t, v.Input, &in)
	a := apply(t, in)
	var want struct {
		Graph, Vectors, Error string
		Batch, Line           int
		Reports               []report
		Records               map[string][]string
	}
	parse(t, v.Expect, &want)
	if refusal(t, v, a.err) {
		same(t, "batch", fmt.Sprint(a.failed), fmt.Sprint(want.Batch))
		var line *graph.LineError
		if !errors.As(a.err, &line) {
			t.Fatalf("the error names no line: %v", a.err)
		}
		same(t, "line", fmt.Sprint(line.Line), fmt.Sprint(want.Line))
		return
	}
	same(t, "reports", fmt.Sprint(a.reports), fmt.Sprint(want.Reports))
	s := a.tip(t)
	if s == nil {
		if len(want.Records) != 0 {
			t.Error("nothing was committed")
		}
		return
	}
	var nodes []string
	for e, err := range s.Nodes(t.Context(), graph.ID{}) {
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, jsonOf(t, e.Node.Encode()))
	}
	if want.Records != nil {
		same(t, "nodes", strings.Join(nodes, "\n"), strings.Join(want.Records["nodes"], "\n"))
	}
	same(t, "graph", s.Graph().String(), want.Graph)
	vectors := ""
	if s.Commit().Vectors.Defined() {
		vectors = s.Commit().Vectors.String()
	}
	same(t, "vectors", vectors, want.Vectors)
}

func jsonOf(t *testing.T, block []byte) string {
	t.Helper()
	value, err := ipld.DecodeValue(block)
	if err != nil {
		t.Fatal(err)
	}
	return string(ipld.AppendJSON(nil, value))
}

// wireRequest is a request as vectors write it: README.md, "Retrieval".
type wireRequest struct {
	Text                                                    string
	Types, Marks, ExpandTypes, Show                         []string
	Limit, Budget, Expand, SummaryCap                       *int
	Adjacency                                               int
	Exclude                                                 []string
	UnseenFrom                                              int64
	Dedup                                                   bool
	MMR                                                     *int
	Oversample                                              *int
	Order                                                   string
	Pack, Tokenizer, Altitude                               string
	PassageTokens                                           *int
	Direction                                               string
	CreatedFrom, CreatedTo, UpdatedFrom, UpdatedTo, ValidAt *int64
	Now                                                     *int64
	Vectors                                                 map[string][]int8
	Sparse                                                  map[string]map[string]int64
	Fusion                                                  retrieve.Fusion
	Spelling                                                retrieve.Spelling
	Feedback                                                int
	Intent                                                  retrieve.Intent
	Pairs                                                   retrieve.Pairing
	Weights                                                 map[retrieve.Lane]int64
	EdgeWeights                                             map[string]int64
	Expansion                                               retrieve.Expansion
	MaxExpand, Decay, Damping                               *int
	Rewrites                                                []string
	Rewrite, Rerank                                         string
	RerankTop                                               *int
	Reranked                                                map[string]int64
	Where                                                   []struct {
		Name, Op, Edges string
		Value           json.RawMessage
	}
	Community bool
	Summarize int
	Ranking   int // 0 for 1
	Floor     retrieve.Floor
	Format    retrieve.Format
}

func request(t *testing.T, data []byte) retrieve.Request {
	t.Helper()
	var w wireRequest
	parse(t, data, &w)
	at := func(p *int64) graph.OptTime {
		if p == nil {
			return graph.OptTime{}
		}
		return graph.At(graph.Time(*p))
	}
	q := retrieve.Request{Ranking: max(1, w.Ranking), Floor: w.Floor, Format: w.Format,
		Altitude: retrieve.Altitude(w.Altitude),
		Text:     w.Text, Types: w.Types, ExpandTypes: w.ExpandTypes, Show: w.Show,
		Limit: w.Limit, Budget: w.Budget, Expand: w.Expand, SummaryCap: w.SummaryCap,
		Adjacency: w.Adjacency, Direction: retrieve.Direction(w.Direction),
		CreatedFrom: at(w.CreatedFrom), CreatedTo: at(w.CreatedTo),
		UpdatedFrom: at(w.UpdatedFrom), UpdatedTo: at(w.UpdatedTo), ValidAt: at(w.ValidAt),
		Exclude: parseIDs(t, w.Exclude), UnseenFrom: w.UnseenFrom, Dedup: w.Dedup, MMR: w.MMR,
		Oversample: w.Oversample,
		Order:      retrieve.Order(w.Order), Pack: retrieve.Packing(w.Pack),
		PassageTokens: w.PassageTokens, Tokenizer: w.Tokenizer,
		Community: w.Community, Summarize: w.Summarize, Rewrites: w.Rewrites, Rewrite: w.Rewrite,
		Rerank: w.Rerank, RerankTop: w.RerankTop, Now: at(w.Now)}
	for id, score := range w.Reranked {
		s := retrieve.RerankScore{ID: parseIDs(t, []string{id})[0], Score: score}
		q.Reranked = append(q.Reranked, s)
	}
	for _, m := range w.Marks {
		q.Marks = append(q.Marks, graph.State(m))
	}
	for model, values := range w.Vectors {
		q.Vectors = append(q.Vectors, retrieve.QueryVector{Model: model, Values: values})
	}
	for model, weights := range w.Sparse {
		v := retrieve.SparseVector{Model: model}
		for term, weight := range weights {
			v.Terms = append(v.Terms, graph.Term{Term: term, Weight: weight})
		}
		slices.SortFunc(v.Terms, func(a, b graph.Term) int { return ipld.CompareKeys(a.Term, b.Term) })
		q.Sparse = append(q.Sparse, v)
	}
	q.Fusion = w.Fusion
	q.Spelling, q.Feedback, q.Intent = w.Spelling, w.Feedback, w.Intent
	q.Pairs = w.Pairs
	for typ, weight := range w.EdgeWeights {
		q.EdgeWeights = append(q.EdgeWeights, retrieve.EdgeWeight{Type: typ, Weight: weight})
	}
	q.ExpansionOptions = retrieve.ExpansionOptions{Expansion: w.Expansion, MaxExpand: w.MaxExpand,
		Decay: w.Decay, Damping: w.Damping}
	for lane, weight := range w.Weights {
		q.Weights = append(q.Weights, retrieve.LaneWeight{Lane: lane, Weight: weight})
	}
	for _, p := range w.Where {
		pred := retrieve.Predicate{
			Name: p.Name, Op: retrieve.Op(p.Op), Edges: retrieve.Direction(p.Edges),
		}
		if p.Value != nil {
			value, err := ipld.ParseJSON(p.Value)
			if err != nil {
				t.Fatal(err)
			}
			pred.Value = value
		}
		q.Where = append(q.Where, pred)
	}
	return q
}

type wantItem struct {
	ID       string
	Score    int64
	Tokens   *int
	Rendered *string
	Band     string
	Signals  *[4]int64 // keyword, entity, similarity, graph
}

type wantAnswer struct {
	Items           []wantItem
	Digests         []wantDigest
	Candidates      int
	Tokens, Dropped *int
	Duplicates      []struct{ ID, Repeats string }
	Summary         *string
	SummaryTokens   int
	Warnings        []struct {
		Code   string
		Params map[string]any
	}
	Error string
}

// wantDigest is a digest in an answer.
type wantDigest struct {
	Name, Band, Rendered string
	Score                int64
	Tokens               int
	Covers               []string
}

func checkDigests(t *testing.T, answer *retrieve.Answer, want wantAnswer) {
	t.Helper()
	var got []wantDigest
	for _, d := range answer.Digests {
		one := wantDigest{d.Name, string(d.Band), d.Rendered, d.Score, d.Tokens, []string{}}
		for _, id := range d.Covers {
			one.Covers = append(one.Covers, id.String())
		}
		got = append(got, one)
	}
	same(t, "digests", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want.Digests))
}

func runFilter(t *testing.T, v vector) {
	var in struct{ Predicate *string }
	if json.Unmarshal(v.Input, &in) != nil || in.Predicate == nil {
		runRetrieval(t, v)
		return
	}
	p, err := retrieve.ParsePredicate(*in.Predicate)
	if err == nil {
		err = retrieve.Request{Where: []retrieve.Predicate{p}}.Validate()
	}
	if refusal(t, v, err) {
		return
	}
	var want struct {
		Name, Op, Edges string
		Value           json.RawMessage
	}
	parse(t, v.Expect, &want)
	same(t, "name and operator", p.Name+" "+string(p.Op)+" "+string(p.Edges),
		want.Name+" "+want.Op+" "+want.Edges)
	if want.Value != nil {
		value, err := ipld.ParseJSON(want.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !value.Equal(p.Value) {
			t.Errorf("value %s, want %s", ipld.AppendJSON(nil, p.Value), want.Value)
		}
	}
}

func runRetrieval(t *testing.T, v vector) {
	var in changesInput
	parse(t, v.Input, &in)
	a := apply(t, in)
	if a.err != nil {
		t.Fatal(a.err)
	}
	answer, err := a.tip(t).Retrieve(t.Context(), request(t, in.Request))
	if refusal(t, v, err) {
		return
	}
	var want wantAnswer
	parse(t, v.Expect, &want)
	var got, wanted strings.Builder
	for _, it := range answer.Items {
		fmt.Fprintf(&got, "%s %d %s\n", it.ID, it.Score, it.Band)
	}
	for _, it := range want.Items {
		fmt.Fprintf(&wanted, "%s %d %s\n", it.ID, it.Score, it.Band)
	}
	same(t, "items", got.String(), wanted.String())
	for i := range min(len(answer.Items), len(want.Items)) {
		if w := want.Items[i]; w.Rendered != nil {
			same(t, "rendered", answer.Items[i].Rendered, *w.Rendered)
			same(t, "tokens of an item", fmt.Sprint(answer.Items[i].Tokens), fmt.Sprint(*w.Tokens))
		}
	}
	checkDigests(t, answer, want)
	checkSignals(t, answer, want)
	same(t, "candidates", fmt.Sprint(answer.Candidates), fmt.Sprint(want.Candidates))
	if want.Tokens != nil {
		same(t, "tokens", fmt.Sprint(answer.TokensUsed), fmt.Sprint(*want.Tokens))
		same(t, "dropped", fmt.Sprint(answer.Dropped), fmt.Sprint(*want.Dropped))
		checkDuplicates(t, answer, want)
	}
	checkSummary(t, answer, want)
	checkWarnings(t, answer, want)
}

func checkWarnings(t *testing.T, answer *retrieve.Answer, want wantAnswer) {
	t.Helper()
	var got, wanted []string
	for _, w := range answer.Warnings {
		got = append(got, fmt.Sprint(w.Code, string(ipld.AppendJSON(nil,
			ipld.MapValue(slices.Clone(w.Params)...)))))
	}
	for _, w := range want.Warnings {
		if w.Params == nil {
			w.Params = map[string]any{}
		}
		data, err := json.Marshal(w.Params)
		if err != nil {
			t.Fatal(err)
		}
		params, err := ipld.ParseJSON(data)
		if err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, fmt.Sprint(w.Code, string(ipld.AppendJSON(nil, params))))
	}
	same(t, "warnings", fmt.Sprint(got), fmt.Sprint(wanted))
}

func runScore(t *testing.T, v vector) {
	var in struct{ Logarithms int }
	if json.Unmarshal(v.Input, &in) != nil || in.Logarithms == 0 {
		runRetrieval(t, v)
		return
	}
	var want struct{ Pairs [][2]json.Number }
	dec := json.NewDecoder(strings.NewReader(string(v.Expect)))
	if err := dec.Decode(&want); err != nil {
		t.Fatal(err)
	}
	for _, p := range want.Pairs {
		var x uint64
		if _, err := fmt.Sscan(p[0].String(), &x); err != nil {
			t.Fatal(err)
		}
		same(t, "L("+p[0].String()+")", fmt.Sprint(fixed.Log2(x)), p[1].String())
	}
}

func runReceipt(t *testing.T, v vector) {
	var block struct{ Block *string }
	if json.Unmarshal(v.Input, &block) == nil && block.Block != nil {
		runRecord(t, v)
		return
	}
	var pair struct{ Before, After string }
	if json.Unmarshal(v.Input, &pair) == nil && pair.Before != "" {
		runDifference(t, v, pair.Before, pair.After)
		return
	}
	var in changesInput
	var want struct{ Receipt, JSON, Replay string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	given, err := commit.DecodeCommit(expand(t, in.Commit))
	if err != nil {
		t.Fatal(err)
	}
	s := apply(t, in).tip(t)
	same(t, "graph", s.Graph().String(), given.Graph.String())
	var receipts []*retrieve.Receipt
	for range 2 {
		answer, err := s.Retrieve(t.Context(), request(t, in.Request))
		if err != nil {
			t.Fatal(err)
		}
		answer.Commit = ipld.Sum(ipld.DagCBOR, given.Encode())
		rec, _ := answer.Receipt()
		receipts = append(receipts, rec)
	}
	if want.JSON != "" {
		same(t, "JSON form", jsonOf(t, receipts[0].Encode()), want.JSON)
	}
	same(t, "receipt", ipld.Sum(ipld.DagCBOR, receipts[0].Encode()).String(), want.Receipt)
	if d := retrieve.CompareReceipts(receipts[0], receipts[1]); want.Replay != "" && d != nil {
		t.Errorf("replay differs: %v", d)
	}
}

// runDifference compares two receipts.
func runDifference(t *testing.T, v vector, before, after string) {
	t.Helper()
	var receipts []*retrieve.Receipt
	for _, h := range []string{before, after} {
		rec, err := retrieve.DecodeReceipt(expand(t, h))
		if err != nil {
			t.Fatal(err)
		}
		receipts = append(receipts, rec)
	}
	var want struct {
		Item  int
		Field string
	}
	parse(t, v.Expect, &want)
	d := retrieve.CompareReceipts(receipts[0], receipts[1])
	if d == nil {
		t.Fatal("no difference found")
	}
	same(t, "difference", fmt.Sprint(d.Item, d.Field), fmt.Sprint(want.Item, want.Field))
}

// runStats compares what an index counts with clause 7.
func runStats(t *testing.T, v vector) {
	var in changesInput
	var want struct {
		Nodes  int64
		Fields []struct {
			Field        string
			Terms, Nodes int64
		}
		DF map[string]int64
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	st := mem.New().Facts()
	manifest, err := index.Update(t.Context(), st, ipld.CID{}, documents(t, apply(t, in).tip(t)),
		index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.Open(t.Context(), st, manifest, nil)
	if err != nil {
		t.Fatal(err)
	}
	stats := x.Stats()
	same(t, "nodes", fmt.Sprint(stats.Nodes), fmt.Sprint(want.Nodes))
	for f, w := range want.Fields {
		same(t, w.Field, fmt.Sprint(stats.Terms[f], stats.Filled[f]), fmt.Sprint(w.Terms, w.Nodes))
	}
	for term, df := range want.DF {
		got, err := x.TermStats(t.Context(), term)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "df of "+term, fmt.Sprint(got), fmt.Sprint(df))
	}
}

// documents are the nodes of a snapshot as additions to an index.
func documents(t *testing.T, s *repo.Snapshot) iter.Seq2[index.Change, error] {
	t.Helper()
	return func(yield func(index.Change, error) bool) {
		if s == nil {
			return
		}
		for e, err := range s.Nodes(t.Context(), graph.ID{}) {
			if err != nil {
				yield(index.Change{}, err)
				return
			}
			doc := &index.Document{Node: e.Node}
			if e.Node.Content != nil {
				if doc.Content, err = s.Content(t.Context(), e.Node.Content); err != nil {
					yield(index.Change{}, err)
					return
				}
			}
			if !yield(index.Change{ID: e.Node.ID, New: doc}, nil) {
				return
			}
		}
	}
}

package rank_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// goldens holds answers of the current ranking: files of cases, each with a memory, a request and the answer.
// docs/internals/testing.md says how to rewrite them.
const goldens = "testdata/ranking"

// leastGolden is how many requests the goldens have at least.
const leastGolden = 1250

// goldenMemory is the memory of a case: its own batches, or those in a file that several cases share.
type goldenMemory struct {
	Author  string
	Memory  string
	Batches []cases.Batch
	Request json.RawMessage
}

// layout is a way to commit a memory; each gives a different layout of the indexes.
type layout struct {
	name    string
	commits int // that a batch is divided into at most
	rebuild bool
}

// layouts give one segment, one segment a commit, and these merged into one again. A small memory gets a commit for
// each fact.
var layouts = []layout{{"bulk", 1, false}, {"fact by fact", 24, false}, {"rebuilt", 24, true}}

// threads are the values of GOMAXPROCS that must give the same answers.
var threads = []int{1, 2, 8}

func (g goldenMemory) batches(t testing.TB) []cases.Batch {
	t.Helper()
	if g.Memory == "" {
		return g.Batches
	}
	data := must.Get(os.ReadFile(filepath.Join(goldens, "memories", g.Memory+".jsonl")))(t)
	var all []cases.Batch
	for line := range strings.Lines(string(data)) {
		var b cases.Batch
		cases.Parse(t, []byte(line), &b)
		all = append(all, b)
	}
	return all
}

// repository makes the memory of a case in a layout.
func (g goldenMemory) repository(t testing.TB, l layout) *core.Repo {
	t.Helper()
	stamp := state.Stamp{Author: g.Author, Command: []string{"test"}}
	r := must.Get(care.New(t.Context(), mem.New(), stamp, core.Options{}))(t)
	for _, b := range g.batches(t) {
		stamp.Time = graph.Time(b.Time)
		all := b.All()
		step := max(1, (len(all)+l.commits-1)/l.commits)
		for from, to := 0, 0; from < len(all); {
			to = min(max(to, from)+step, len(all))
			changes := state.ReadChanges(strings.NewReader(strings.Join(all[from:to], "\n")+"\n"), "lines")
			_, err := r.Commit(t.Context(), changes, core.CommitOptions{Stamp: stamp})
			switch {
			case err == nil:
				from = to
			case to == len(all):
				t.Fatal(err)
			} // else a line cites one further on: both in one commit
		}
	}
	if l.rebuild && g.tip(t, r) != nil {
		must.Get(r.Indexes().Rebuild(t.Context(), "HEAD"))(t)
	}
	return r
}

// tip is the snapshot of HEAD, nil before the first commit.
func (goldenMemory) tip(t testing.TB, r *core.Repo) *core.Snapshot {
	t.Helper()
	_, c, err := r.Branch(t.Context())
	must.OK(t, err)
	if !c.Defined() {
		return nil
	}
	return must.Get(r.At(t.Context(), c))(t)
}

// with gives the memory in a layout to fn, and closes it.
func (g goldenMemory) with(t testing.TB, l layout, fn func(s *core.Snapshot) any) any {
	t.Helper()
	r := g.repository(t, l)
	defer func() { must.OK(t, r.Close()) }()
	return fn(g.tip(t, r))
}

// goldenAnswer is the part of an answer in a golden file: the part that people read, and a hash of all of it.
type goldenAnswer struct {
	Error      string   `json:"error,omitempty"` // the parameter that is refused
	Items      []string `json:"items,omitempty"` // key or id, score, band, tokens; the item that it follows or repeats
	Dropped    []string `json:"dropped,omitempty"`
	Digests    []string `json:"digests,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
	Rendered   []string `json:"rendered,omitempty"` // in files about rendering
	Receipt    string   `json:"receipt,omitempty"`  // in the file of receipts: the JSON form, of no commit
	Tokens     int      `json:"tokens,omitempty"`
	Candidates int      `json:"candidates,omitempty"`
	SHA256     string   `json:"sha256,omitempty"` // of the answer in every detail, and of its receipt
}

// texts are the files whose goldens have the texts of items, and not their sum alone.
var texts = []string{"render", "languages"}

func goldenOf(t testing.TB, layer string, s *core.Snapshot, req retrieve.Request) goldenAnswer {
	t.Helper()
	a, err := rank.Retrieve(context.Background(), s, req)
	if err != nil {
		var refused *retrieve.RequestError
		must.Require(t, errors.As(err, &refused) && errors.Is(err, retrieve.ErrRequest), "%v", err)
		return goldenAnswer{Error: refused.Param}
	}
	out := goldenAnswer{Tokens: a.TokensUsed, Candidates: a.Candidates}
	for _, it := range a.Items {
		line := strings.TrimSpace(fmt.Sprintf("%s %d %s", shownName(it.Key, it.ID), it.Score, it.Band))
		if it.Recall != nil {
			line += fmt.Sprint(" ", [4]int64{it.Recall.Keyword, it.Recall.Entity, it.Recall.Similarity, it.Recall.Graph})
		}
		out.Items = append(out.Items, line)
		if slices.Contains(texts, layer) {
			out.Rendered = append(out.Rendered, it.Rendered)
		}
	}
	for _, d := range a.DroppedItems {
		line := fmt.Sprintf("%s %s %d", d.ID, d.Reason, d.Tokens)
		if d.Reason == retrieve.ReasonDuplicate {
			line += " " + d.Repeats.String()
		}
		out.Dropped = append(out.Dropped, line)
	}
	for _, d := range a.Digests {
		out.Digests = append(out.Digests, fmt.Sprintf("%s %d %s %d: %s", d.Name, d.Score, d.Band, d.Tokens, d.Rendered))
	}
	for _, w := range a.Warnings {
		params := ipld.AppendJSON(nil, ipld.MapValue(slices.Clone(w.Params)...))
		out.Warnings = append(out.Warnings, string(w.Code)+" "+string(params))
	}
	a.Commit = ipld.Sum(ipld.DagCBOR, nil) // each layout has different commits
	receipt, _ := a.Receipt()
	block := receipt.Encode()
	must.Get(retrieve.DecodeReceipt(block))(t, "a receipt that is refused")
	if layer == "receipt" {
		value := must.Get(ipld.DecodeValue(block))(t)
		out.Receipt = string(ipld.AppendJSON(nil, value))
	}
	detail := must.Get(inner([]any{a.Items, a.DroppedItems, a.Digests, nil, a.Dates, a.Readings, a.Kin, nil,
		a.Recall, a.TokensBudget}))(t)
	out.SHA256 = fmt.Sprintf("%x", sha256.Sum256(append(detail, block...)))
	return out
}

// shownName is the key, or the id of a node without one.
func shownName(key string, id graph.ID) string {
	if key != "" {
		return key
	}
	return id.String()
}

// TestRankingGolden answers every request of the goldens, in a layout and with a number of threads that change from
// case to case; of some cases in all of them, which must be equal.
func TestRankingGolden(t *testing.T) {
	effort.Alone(t)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	paths := must.Get(filepath.Glob(filepath.Join(goldens, "*.jsonl")))(t)
	n, total := 0, 0
	every := effort.Pick(5, 2, 1)
	for _, path := range paths {
		layer := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		if goldenFacts[layer] != nil {
			continue
		}
		total += len(cases.Read(t, path))
		t.Run(layer, func(t *testing.T) {
			cases.Golden(t, path, func(t testing.TB, c cases.Case) any {
				var g goldenMemory
				cases.Parse(t, c.Input, &g)
				req := goldenRequest(t, g.Request)
				ask := func(s *core.Snapshot) any { return goldenOf(t, layer, s, req) }
				n++
				if n%every != 0 {
					runtime.GOMAXPROCS(threads[n%3])
					return g.with(t, layouts[n/3%3], ask)
				}
				return everyWay(t, c, g, ask)
			})
		})
	}
	must.True(t, total >= leastGolden, "%d requests, want %d", total, leastGolden)
}

// everyWay answers in each layout with each number of threads.
func everyWay(t testing.TB, c cases.Case, g goldenMemory, ask func(*core.Snapshot) any) any {
	t.Helper()
	var first []byte
	var answer any
	var state ipld.CID
	for _, l := range layouts {
		g.with(t, l, func(s *core.Snapshot) any {
			if !state.Defined() {
				state = s.Graph()
			}
			must.Equal(t, s.Graph(), state, c.Path(), ": another graph, ", l.name)
			for _, n := range threads {
				runtime.GOMAXPROCS(n)
				got := ask(s)
				text := must.Get(json.Marshal(got))(t)
				if first == nil {
					first, answer = text, got
				}
				must.Equal(t, string(text), string(first), c.Path(), ": ", l.name, ", ", n, " threads:\n")
			}
			return nil
		})
	}
	return answer
}

// wireRequest is a request as goldens write it: the parameters of clause 8.1 of the specification by their names.
type wireRequest struct {
	Text                                                    string
	Types, Marks, ExpandTypes, Show                         []string
	Limit, Budget, Expand, SummaryCap                       *int
	Adjacency                                               int
	Exclude                                                 []string
	UnseenFrom                                              int64
	Dedup                                                   bool
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
	Floor     retrieve.Floor
	Format    retrieve.Format
}

func goldenRequest(t testing.TB, data []byte) retrieve.Request {
	t.Helper()
	var w wireRequest
	cases.Parse(t, data, &w)
	at := func(p *int64) graph.OptTime {
		if p == nil {
			return graph.OptTime{}
		}
		return graph.At(graph.Time(*p))
	}
	q := retrieve.Request{Floor: w.Floor, OutputOptions: retrieve.OutputOptions{Format: w.Format,
		Altitude: retrieve.Altitude(w.Altitude), Show: w.Show, SummaryCap: w.SummaryCap, Adjacency: w.Adjacency,
		Order: retrieve.Order(w.Order), Pack: retrieve.Packing(w.Pack), PassageTokens: w.PassageTokens,
		Tokenizer: w.Tokenizer},
		Text: w.Text, Types: w.Types, ExpansionOptions: retrieve.ExpansionOptions{ExpandTypes: w.ExpandTypes,
			Expand: w.Expand, Direction: retrieve.Direction(w.Direction)},
		Limit: w.Limit, Budget: w.Budget,

		TimeFilter: retrieve.TimeFilter{CreatedFrom: at(w.CreatedFrom), CreatedTo: at(w.CreatedTo),
			UpdatedFrom: at(w.UpdatedFrom), UpdatedTo: at(w.UpdatedTo), ValidAt: at(w.ValidAt)},
		Exclusions: retrieve.Exclusions{Exclude: goldenIDs(t, w.Exclude), UnseenFrom: w.UnseenFrom}, Dedup: w.Dedup,
		Community: w.Community, RewriteOptions: retrieve.RewriteOptions{Rewrites: w.Rewrites, Rewrite: w.Rewrite},
		RerankOptions: retrieve.RerankOptions{Rerank: w.Rerank, RerankTop: w.RerankTop}, Now: at(w.Now)}
	for id, score := range w.Reranked {
		s := retrieve.RerankScore{ID: goldenIDs(t, []string{id})[0], Score: score}
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
	q.Spelling, q.Intent = w.Spelling, w.Intent
	q.Pairs = w.Pairs
	for typ, weight := range w.EdgeWeights {
		q.EdgeWeights = append(q.EdgeWeights, retrieve.EdgeWeight{Type: typ, Weight: weight})
	}
	q.Expansion, q.MaxExpand, q.Decay, q.Damping = w.Expansion, w.MaxExpand, w.Decay, w.Damping
	for lane, weight := range w.Weights {
		q.Weights = append(q.Weights, retrieve.LaneWeight{Lane: lane, Weight: weight})
	}
	for _, p := range w.Where {
		pred := retrieve.Predicate{Name: p.Name, Op: retrieve.Op(p.Op), Edges: retrieve.Direction(p.Edges)}
		if p.Value != nil {
			value := must.Get(ipld.ParseJSON(p.Value))(t)
			pred.Value = value
		}
		q.Where = append(q.Where, pred)
	}
	return q
}

func goldenIDs(t testing.TB, texts []string) []graph.ID {
	t.Helper()
	var ids []graph.ID
	for _, s := range texts {
		id := must.Get(graph.ParseID(s))(t)
		ids = append(ids, id)
	}
	return ids
}

// goldenFacts are the kinds of golden files without requests: facts that a ranking reads from a memory, and requests
// completed by profiles.
var goldenFacts = map[string]func(t testing.TB, c cases.Case) any{
	"communities": ofMemory(goldenCommunities), "digest": ofMemory(goldenDigests), "stats": ofMemory(goldenStats),
	"profile-choice": goldenChoice,
}

func TestRankingFactsGolden(t *testing.T) {
	for layer, answer := range goldenFacts {
		cases.Golden(t, filepath.Join(goldens, layer+".jsonl"), answer)
	}
}

// ofMemory looks at the memory of a case in each layout.
func ofMemory(look func(t testing.TB, c cases.Case, s *core.Snapshot) any) func(t testing.TB, c cases.Case) any {
	return func(t testing.TB, c cases.Case) any {
		var g goldenMemory
		cases.Parse(t, c.Input, &g)
		var first any
		for _, l := range layouts {
			got := g.with(t, l, func(s *core.Snapshot) any {
				if s == nil {
					return nil
				}
				return look(t, c, s)
			})
			if first == nil {
				first = got
			}
			must.Equal(t, fmt.Sprint(got), fmt.Sprint(first), c.Path(), ": ", l.name, ":\n got ", got, "\nwant ", first)
		}
		return first
	}
}

// goldenCommunities are the members of each community in order: id, and the weight of their edges within.
func goldenCommunities(t testing.TB, _ cases.Case, s *core.Snapshot) any {
	p := must.Get(outline.Communities(t.Context(), s))(t)
	all := [][]string{}
	for n := range p.Len() {
		var members []string
		for _, m := range p.Members(n) {
			members = append(members, fmt.Sprintf("%s %d", m.ID, m.Inside))
		}
		all = append(all, members)
	}
	return all
}

// goldenDigests is the record of the root's digest, and the CIDs of all.
func goldenDigests(t testing.TB, _ cases.Case, s *core.Snapshot) any {
	d := must.Get(outline.Open(t.Context(), s, distill.Default(), outline.DigestOptions{}))(t)
	if !d.Root.Defined() {
		return "none"
	}
	root, _, err := d.Top(t.Context(), d.Blocks, graph.ID{})
	must.OK(t, err)
	value := must.Get(ipld.DecodeValue(root.Encode()))(t)
	scopes := map[string]string{}
	for e, err := range d.Scopes.Scan(t.Context(), nil, nil) {
		must.OK(t, err)
		id := graph.ID(e.Key)
		c := must.Get(d.Scope(t.Context(), id))(t)
		scopes[id.String()] = c.String()
	}
	return map[string]any{"root": d.Root.String(), "record": string(ipld.AppendJSON(nil, value)), "scopes": scopes}
}

// goldenStats returns an index's counts: nodes, terms and nodes of each field, and the nodes of each term that the file
// names.
func goldenStats(t testing.TB, c cases.Case, s *core.Snapshot) any {
	st := mem.New().Facts()
	manifest := must.Get(index.Update(t.Context(), st, ipld.CID{}, goldenDocuments(t, s), index.UpdateOptions{}))(t)
	x := must.Get(index.Open(t.Context(), st, manifest, nil))(t)
	stats := x.Stats()
	fields := []string{}
	for f := range stats.Terms {
		fields = append(fields, fmt.Sprintf("%d %d", stats.Terms[f], stats.Filled[f]))
	}
	var asked struct{ DF map[string]int64 }
	must.OK(t, json.Unmarshal(c.Expect, &asked))
	df := map[string]int64{}
	for term := range asked.DF {
		df[term] = must.Get(x.TermStats(t.Context(), term))(t)
	}
	return map[string]any{"nodes": stats.Nodes, "fields": fields, "df": df}
}

// goldenDocuments are the nodes of a snapshot as additions to an index.
func goldenDocuments(t testing.TB, s *core.Snapshot) iter.Seq2[index.Change, error] {
	t.Helper()
	return func(yield func(index.Change, error) bool) {
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

// goldenChoice resolves a request by profiles. All fields in the file count as given, also those at their defaults.
func goldenChoice(t testing.TB, c cases.Case) any {
	var in struct {
		Profiles string
		Request  json.RawMessage
	}
	cases.Parse(t, c.Input, &in)
	var members map[string]json.RawMessage
	cases.Parse(t, in.Request, &members)
	var name string
	if given := members["profile"]; given != nil {
		cases.Parse(t, given, &name)
		delete(members, "profile")
	}
	rest := must.Get(json.Marshal(members))(t)
	req := goldenRequest(t, rest)
	req.Profile = name
	var given []string
	for member := range members {
		given = append(given, member)
	}
	var profiles *retrieve.Profiles
	if in.Profiles != "" {
		profiles = must.Get(retrieve.DecodeProfiles(cases.Bytes(t, in.Profiles)))(t)
	}
	got, err := profiles.Apply(req.Explicitly(given...))
	var refused *retrieve.RequestError
	switch {
	case errors.As(err, &refused):
		return map[string]any{"error": refused.Param}
	case errors.Is(err, retrieve.ErrRequest):
		return map[string]any{"error": "profile"}
	case err != nil:
		t.Fatal(err)
	}
	got.Pairs = retrieve.PairsOff // nothing was answered, so nothing is paired
	if got.Pack == "" {
		got.Pack = retrieve.PackWhole // nor was a text trimmed
	}
	receipt, _ := (&retrieve.Answer{Request: got}).Receipt()
	return map[string]any{"request": string(ipld.AppendJSON(nil, receipt.Params))}
}

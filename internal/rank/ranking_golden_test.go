package rank_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
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
	defer func() {
		must.OK(t, r.Close())
	}()
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
	must.Check(t, total >= leastGolden, "%d requests, want %d", total, leastGolden)
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

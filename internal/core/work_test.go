package core_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// TestWorkAtHub compares commits at a node with very many edges with those at a leaf.
func TestWorkAtHub(t *testing.T) {
	effort.Alone(t)
	n := effort.Pick(10_000, 10_000, 100_000)
	st := mem.New()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, repokit.HubLines(n)+`{"node":{"key":"lone","type":"Leaf"}}`)
	for name, line := range map[string]string{
		"add an edge":       `{"edge":{"type":"new%d","src":"%s","dst":"lone"}}`,
		"add an edge to it": `{"edge":{"type":"in%d","src":"lone","dst":"%s"}}`,
		"change the node":   `{"node":{"key":"%[2]s","props":{"p":%[1]d}}}`,
		"mark it":           `{"mark":{"node":"%[2]s","state":"stale","reason":"%[1]d"}}`,
	} {
		const samples = 8
		var got [2]repokit.Work
		for side, node := range []string{"hub", "l17"} {
			for i := range samples {
				w := repokit.Measure(t, st, func(r *core.Repo) { repokit.Lines(t, r, fmt.Sprintf(line, i, node)) })
				if w.Blocks() > got[side].Blocks() {
					got[side] = w
				}
			}
		}
		must.True(t, got[0].Blocks() <= got[1].Blocks()+6 && got[0].Facts.BlocksRead <= got[1].Facts.BlocksRead+12,
			"%s: at the hub %v, at a leaf %v", name, got[0], got[1])
	}
	w := repokit.Measure(t, st, func(r *core.Repo) {
		a, err := rank.Retrieve(t.Context(), repokit.Head(t, r), retrieve.Request{Text: "centre", Limit: new(1),
			OutputOptions: retrieve.OutputOptions{Adjacency: 10}, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
		must.True(t, err == nil && len(a.Items) == 1 && a.Items[0].ID == graph.NodeID("hub"), "%+v, %v", a, err)
	})
	must.True(t, w.Facts.BlocksRead <= 80, "rendering the hub read %d blocks", w.Facts.BlocksRead)
}

// TestWorkOfReads bounds what work reads that is not about everything, with nothing cached: ten times the memory may
// make it read twice as much, not ten times. Package synth does so for openings, retrievals, logs, commits and diffs.
func TestWorkOfReads(t *testing.T) {
	effort.Alone(t)
	ctx := context.Background()
	log := func(opt history.LogOptions, want int) func(*testing.T, *core.Repo) {
		return func(t *testing.T, r *core.Repo) {
			n, err := 0, error(nil)
			for _, err = range history.History(ctx, r, opt) {
				must.OK(t, err)
				n++
			}
			must.Equal(t, n, want, "commits")
		}
	}
	id := graph.NodeID("n7")
	last := make(map[string]int64)
	for _, n := range []int{1_000, effort.Pick(8_000, 10_000, 10_000)} {
		st := repokit.Memory(t, n)
		repokit.Measure(t, st, func(r *core.Repo) { repokit.Lines(t, r, `{"node":{"key":"n7","props":{"n":-1}}}`) })
		for _, c := range []struct {
			name string
			fn   func(*testing.T, *core.Repo)
			most int64
		}{
			{"blame", func(t *testing.T, r *core.Repo) {
				list, err := history.Blame(ctx, repokit.Head(t, r), id)
				must.True(t, err == nil && len(list) != 0, "%v, %v", list, err)
			}, 60},
			{"titles", func(t *testing.T, r *core.Repo) {
				got := repokit.TitleOf(t, r, history.Titler{Now: repokit.Head(t, r), Tip: repokit.Head(t, r)})
				must.True(t, got != "", "no title")
			}, 60},
			{"log of a node", log(history.LogOptions{Node: id}, 2), 60},
			{"undo", func(t *testing.T, r *core.Repo) { must.Get(history.Undo(ctx, r, "", repokit.By))(t) }, 40},
		} {
			w := repokit.Measure(t, st, func(r *core.Repo) { c.fn(t, r) })
			reads := w.Facts.BlocksRead + w.Derived.BlocksRead
			before, ok := last[c.name]
			must.True(t, reads <= c.most && (!ok || reads <= 2*before+10),
				"%d nodes: %s read %d blocks, %d in a tenth of it, want %d at most", n, c.name, reads, before, c.most)
			last[c.name] = reads
		}
	}
}

// gated is a store whose derived blocks cannot be written until the gate opens.
type gated struct {
	store.Store
	waits func()
	gate  chan struct{}
}

func (g *gated) Derived() store.Derived { return gatedDerived{g.Store.Derived(), g} }

type gatedDerived struct {
	store.Derived
	g *gated
}

func (d gatedDerived) Put(ctx context.Context, blocks ...store.Block) error {
	d.g.waits()
	<-d.g.gate
	return d.Derived.Put(ctx, blocks...)
}

// TestReadersDoNotWait asks a memory whose index is open while someone makes the index of another.
func TestReadersDoNotWait(t *testing.T) {
	ctx := context.Background()
	st := mem.New()
	r := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"zebra"}}`)
	repokit.Lines(t, r, `{"node":{"key":"b","type":"T","summary":"zebra too"}}`)
	must.OK(t, st.Derived().Clear(ctx))
	_, err := rank.Retrieve(ctx, repokit.Head(t, r), retrieve.Request{Text: "zebra"}) // makes one
	must.OK(t, err)
	waiting, gate := make(chan struct{}), make(chan struct{})
	slow := must.Get(care.New(ctx, &gated{st, sync.OnceFunc(func() { close(waiting) }), gate}, repokit.By,
		core.Options{}))(t)
	must.Get(rank.Retrieve(ctx, repokit.Head(t, slow), retrieve.Request{Text: "zebra"}))(t)
	before := must.Get(slow.Snapshot(ctx, "HEAD~1"))(t)
	done := make(chan error)
	go func() {
		_, err := rank.Retrieve(ctx, before, retrieve.Request{Text: "zebra"})
		done <- err
	}()
	<-waiting
	a, err := rank.Retrieve(ctx, repokit.Head(t, slow), retrieve.Request{Text: "zebra"}) // would hang
	must.OK(t, err)
	must.Equal(t, len(a.Items), 2)
	close(gate)
	must.OK(t, <-done)
}

// haystack makes a repository of n nodes that all fit the questions of TestFilterFindsOneOfMany
// better than one of them does, which alone has the property needle.
func haystack(t *testing.T, n int) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{}))(t)
	t.Cleanup(func() { _ = r.Close() }) // in memory
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"node":{"key":"hay%d","type":"Note","summary":"alpha alpha beta",`+
			`"created":"2024-05-01T00:00:00Z"}}`+"\n", i)
		fmt.Fprintf(&b, `{"embedding":{"node":"hay%d","model":"m","vector":[1,0.01]}}`+"\n", i)
		fmt.Fprintf(&b, `{"embedding":{"node":"hay%d","model":"s","sparse":{"alpha":9,"b":1}}}`+"\n", i)
		fmt.Fprintf(&b, `{"edge":{"type":"t","src":"hub","dst":"hay%d"}}`+"\n", i)
	}
	b.WriteString(`{"node":{"key":"hub","type":"Hub","summary":"gamma","props":{"needle":false}}}
{"node":{"key":"needle","type":"Note","summary":"a long note that has the word alpha just once among ` +
		`very many others of no matter","created":"2020-01-01T00:00:00Z","props":{"needle":true}}}
{"embedding":{"node":"needle","model":"m","vector":[0.1,1]}}
{"embedding":{"node":"needle","model":"s","sparse":{"alpha":0.1}}}
{"edge":{"type":"last","src":"hub","dst":"needle"}}
`)
	repokit.Lines(t, r, b.String())
	return r
}

// TestFilterFindsOneOfMany asks every lane for the one node of many that a filter lets pass, which is
// the last of all in each of them.
func TestFilterFindsOneOfMany(t *testing.T) {
	t.Parallel()
	n := effort.Pick(10_000, 100_000, 100_000)
	if effort.Race {
		n = 2_000
	}
	s := repokit.Head(t, haystack(t, n))
	where := must.Get(retrieve.ParsePredicate("needle = true"))(t)
	vector := must.Get(retrieve.NewQueryVector("m", []float64{1, 0}))(t)
	sparse := must.Get(retrieve.NewSparseVector("s", []graph.SparseWeight{{Term: "alpha", Weight: 1}}))(t)
	hub, err := retrieve.ParsePredicate("needle exists") // else no neighbour could contribute
	must.OK(t, err)
	for name, req := range map[string]retrieve.Request{
		"text":    {Text: "alpha", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}},
		"dense":   {Vectors: []retrieve.QueryVector{vector}, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}},
		"recency": {},
		"sparse":  {Sparse: []retrieve.SparseVector{sparse}, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}},
		"rewrite": {Text: "zeta", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"alpha"}},
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}},
		"time":   {Text: "what happened in May 2024"},
		"exact":  {Text: "needle"},
		"quoted": {Text: `what of "needle"`},
		"expand": {
			Text: "gamma", ExpansionOptions: retrieve.ExpansionOptions{ExpandTypes: []string{"last"}},
			Where: []retrieve.Predicate{hub},
		},
		"fused": {Text: "alpha", Vectors: []retrieve.QueryVector{vector}, Fusion: retrieve.RRF},
	} {
		t.Run(name, func(t *testing.T) {
			if req.Where == nil {
				req.Where = []retrieve.Predicate{where}
			}
			req.Floor = retrieve.FloorRest
			answer := must.Get(rank.Retrieve(t.Context(), s, req))(t)
			items := answer.Items
			if len(items) > 0 && items[0].Key == "hub" {
				items = items[1:]
			}
			must.True(t, len(items) == 1 && items[0].Key == "needle",
				"found %d items, %d candidates; want the needle alone", len(items), answer.Candidates)
		})
	}
}

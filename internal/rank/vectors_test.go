package rank_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/retrieve"
)

// denseModel is a naive copy of a memory at one commit: types of nodes, and their vectors.
type denseModel struct {
	types   map[string]string
	vectors map[[2]string][]int8 // by key and model
}

// change makes a batch of random lines and applies it to the model.
func (m denseModel) change(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(30) {
		key := fmt.Sprint("n", rng.IntN(60))
		if _, there := m.types[key]; !there || rng.IntN(8) == 0 {
			typ := []string{"A", "B"}[rng.IntN(2)]
			m.types[key] = typ
			fmt.Fprintf(&b, `{"node":{"key":%q,"type":%q,"summary":"text %d"}}`+"\n", key, typ, rng.IntN(100))
		}
		model := []string{"m", "m2", "x"}[rng.IntN(3)]
		floats := make([]float64, 3+rng.IntN(20)/19)
		for i := range floats {
			floats[i] = float64(rng.IntN(9)-4) / 4
		}
		q, err := graph.Quantise(floats)
		if err != nil {
			continue
		}
		m.vectors[[2]string{key, model}] = q
		fmt.Fprintf(&b, `{"embedding":{"node":%q,"model":%q,"vector":%s}}`+"\n", key, model,
			strings.ReplaceAll(fmt.Sprint(floats), " ", ","))
	}
	return b.String()
}

// TestDensePurge asks for a purged node whose vector was in memory.
func TestDensePurge(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"alpha secret"}}
{"node":{"key":"b","type":"T","summary":"beta"}}
{"embedding":{"node":"a","model":"m","vector":[1,2]}}
{"embedding":{"node":"b","model":"m","vector":[2,1]}}
`)
	req := retrieve.Request{Vectors: []retrieve.QueryVector{{Model: "m", Values: []int8{1, 1}}}}
	at := func() []string {
		s := must.Get(r.At(t.Context(), first.Commit))(t)
		a := must.Get(rank.Retrieve(t.Context(), s, req))(t)
		var keys []string
		for _, item := range a.Items {
			keys = append(keys, item.Key)
		}
		slices.Sort(keys)
		return keys
	}
	must.Same(t, at(), []string{"a", "b"})
	must.Get(care.Purge(t.Context(), r, "a", care.PurgeOptions{Stamp: repokit.By}))(t)
	must.Same(t, at(), []string{"b"}, "after the purge")
}

// TestDenseConcurrent asks for models from many goroutines while a cache keeps only some.
func TestDenseConcurrent(t *testing.T) {
	r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{VectorCache: 1500}))(t)
	defer r.Close()
	rng := rand.New(rand.NewPCG(5, 5))
	m := denseModel{map[string]string{}, map[[2]string][]int8{}}
	for len(m.vectors) < 20 {
		repokit.Lines(t, r, m.change(rng))
	}
	s := repokit.Head(t, r)
	count := func(ctx context.Context, model string) (int, error) {
		a, err := rank.Retrieve(ctx, s, retrieve.Request{ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
			Limit: new(0), Budget: new(0), Floor: retrieve.FloorRest,
			Vectors: []retrieve.QueryVector{{Model: model, Values: []int8{9, 5, 1}}}})
		if err != nil {
			return 0, err
		}
		return len(a.Items), nil
	}
	done := make(chan error)
	for i, model := range slices.Repeat([]string{"m", "m2", "x"}, 4) {
		want, err := count(t.Context(), model)
		must.Require(t, err == nil && want != 0, "%s: %d items, %v", model, want, err)
		go func() {
			n, err := count(context.Background(), model)
			if err == nil && n != want {
				err = fmt.Errorf("%d, %s: %d items, want %d", i, model, n, want)
			}
			done <- err
		}()
	}
	for range 12 {
		must.OK(t, <-done)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(t, must.Err(rank.Retrieve(ctx, s, retrieve.Request{Vectors: []retrieve.QueryVector{{Model: "y",
		Values: []int8{1}}}})), context.Canceled)
}

func setOf(model string, bytes int) *view.VectorSet {
	s := &view.VectorSet{Key: view.VectorsOf{Model: model}, Sparse: new(index.SparseMatrix)}
	for i := 1; s.Bytes() < int64(bytes); i++ {
		s.Sparse.Add(graph.ID{byte(i)}, []graph.Term{{Term: "t", Weight: 1}})
	}
	return s
}

// TestVectorCache counts what sets take, and keeps nothing of before a clearing.
func TestVectorCache(t *testing.T) {
	size := setOf("a", 1000).Bytes() + cache.Overhead
	c := view.NewVectorCache(3*size + 10)
	add := func(model string, bytes int, epoch int) (kept bool) {
		s := setOf(model, bytes)
		c.Sets.AddSince(epoch, s.Key, s, s.Bytes())
		_, kept, _ = c.Sets.Get(s.Key)
		return kept
	}
	for _, model := range []string{"a", "b", "c", "d"} {
		must.True(t, add(model, 1000, 0), "%s is not kept", model)
	}
	must.Equal(t, c.Sets.Len(), 3, "sets of")
	must.Equal(t, c.Sets.Bytes(), 3*size, "sets of")
	must.True(t, !add("e", int(c.Limit)+1, 0), "one larger than the cache is kept")
	_, _, epoch := c.Sets.Get(view.VectorsOf{Model: "f"})
	c.Clear()
	must.True(t, !add("f", 1000, epoch), "what was read before the clearing is kept")
}

// TestDenseInt8 makes i8 of floats as a query's are.
func TestDenseInt8(t *testing.T) {
	floats := []float64{0.5, -0.25, 1e-40, 0.1}
	data := []byte{}
	for i, x := range floats {
		floats[i] = float64(float32(x))
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	}
	e := &graph.Embedding{Model: "m", DType: graph.Float32, Dims: 4, Data: data}
	must.OK(t, e.Validate())
	must.Same(t, must.Get(view.DenseInt8(e))(t), must.Get(graph.Quantise(floats))(t))
}

// TestUnembedded counts nodes without vectors in memories that are looked through and in larger ones, with nodes that
// have nothing to embed.
func TestUnembedded(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		vectors, texts, empty int // nodes with a vector, with a text alone, without a text
		other                 int // nodes with a text and a vector by another model
		lack                  int
	}{
		{"nothing", 0, 0, 0, 0, 0},
		{"small, none", 0, 3, 0, 0, 3},
		{"small, all", 5, 0, 0, 0, 0},
		{"small, empty ones", 5, 2, 4, 0, 2},
		{"small, another model", 5, 2, 4, 3, 5},
		{"large, all", 300, 0, 0, 0, 0},
		{"large, some", 300, 7, 0, 0, 7},
		{"large, few empty ones", 300, 0, 9, 0, 0},
		{"large, many empty ones", 300, 0, 40, 0, 0},
		{"large, both, few", 300, 5, 6, 0, 5},
		{"large, both, many", 300, 40, 40, 0, 80}, // at most
		{"large, another model", 300, 1, 2, 3, 6}, // at most
		{"large, none", 0, 300, 0, 0, 300},
		{"large, nothing to embed", 0, 0, 300, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := repokit.OpenMem(t)
			var lines strings.Builder
			add := func(kind string, n int, summary, model string) {
				for i := range n {
					fmt.Fprintf(&lines, `{"node":{"key":"%s%d","type":"T"%s}}`+"\n", kind, i, summary)
					if model != "" {
						fmt.Fprintf(&lines, `{"embedding":{"node":"%s%d","model":"%s","vector":[1,2]}}`+"\n", kind, i, model)
					}
				}
			}
			add("v", tt.vectors, `,"summary":"a text"`, "m")
			add("t", tt.texts, `,"content":"a text"`, "")
			add("e", tt.empty, `,"summary":" "`, "")
			add("o", tt.other, `,"summary":"a text"`, "n")
			if lines.Len() > 0 {
				must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(lines.String()), ""),
					core.CommitOptions{Stamp: repokit.By}))(t)
			}
			_, at, err := r.Branch(t.Context())
			must.OK(t, err)
			s := must.Get(r.At(t.Context(), at))(t)
			lack, of, err := rank.Unembedded(t.Context(), s, "m")
			if all := tt.vectors + tt.texts + tt.empty + tt.other; err != nil || lack != tt.lack || of != all {
				t.Errorf("%d of %d, %v: want %d of %d", lack, of, err, tt.lack, all)
			}
		})
	}
}

// TestNodeCache holds that a question asked again reads no node from the store and looks for no mention, and that
// nothing is kept of nodes once some may have been erased.
func TestNodeCache(t *testing.T) {
	ctx := t.Context()
	by := state.Stamp{Author: "ana", Time: 1, Command: []string{"test"}}
	r := must.Get(care.New(ctx, mem.New(), by, core.Options{}))(t)
	changes := state.ReadChanges(strings.NewReader(`{"node":{"key":"a","type":"T","summary":"harbour lights"}}
{"node":{"key":"b","type":"T","summary":"harbour walls","content":"see harbour lights"}}`), "lines")
	must.Get(r.Commit(ctx, changes, core.CommitOptions{Stamp: by}))(t)
	ask := func() {
		t.Helper()
		s := must.Get(r.Snapshot(ctx, string(graph.Head)))(t)
		answer, err := rank.Retrieve(ctx, s, retrieve.Request{Text: "harbour"})
		must.Require(t, err == nil && len(answer.Items) == 2, "%+v, %v", answer, err)
	}
	ask()
	must.Equal(t, r.NodeBlocks.Len(), 2, "nodes are kept")
	s := must.Get(r.Snapshot(ctx, string(graph.Head)))(t)
	a, b := graph.NodeID("a"), graph.NodeID("b")
	m := rank.OpenMentions(s).Known(b, retrieve.Out)
	must.True(t, m != nil && slices.Equal(m.IDs, []graph.ID{a}), "of the mentions of b are kept %+v", m)
	must.Equal(t, r.Mentions.Len(), 4, "lists of mentions are kept")
	ask()
	must.OK(t, r.Indexes().ChangeAll(ctx, nil))
	must.Equal(t, r.NodeBlocks.Len()+r.Mentions.Len(), 0, "nodes or their mentions are kept after an erasure")
	ask()
}

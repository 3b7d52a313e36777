package rank_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
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
			fmt.Fprintf(&b, `{"node":{"key":%q,"type":%q,"summary":"text %d"}}`+"\n", key, typ,
				rng.IntN(100))
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
	_, err := rank.Retrieve(ctx, s, retrieve.Request{Vectors: []retrieve.QueryVector{{Model: "y",
		Values: []int8{1}}}})
	must.Fail(t, err, context.Canceled)
}

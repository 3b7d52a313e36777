package rank_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// denseModel is a naive copy of a memory at one commit: types of nodes, and their vectors.
type denseModel struct {
	types   map[string]string
	vectors map[[2]string][]int8 // by key and model
}

func (m denseModel) clone() denseModel {
	return denseModel{maps.Clone(m.types), maps.Clone(m.vectors)}
}

func bigDot(a, b []int8) *big.Int {
	s := new(big.Int)
	for i := range a {
		s.Add(s, big.NewInt(int64(a[i])*int64(b[i])))
	}
	return s
}

// rank is clause 9.5 by the letter.
func (m denseModel) rank(q retrieve.QueryVector, typ string) (hits []source.Hit, other int) {
	for at, v := range m.vectors {
		if at[1] != q.Model {
			continue
		}
		if len(v) != len(q.Values) {
			other++
			continue
		}
		dot := bigDot(q.Values, v)
		if dot.Sign() <= 0 || typ != "" && m.types[at[0]] != typ {
			continue
		}
		root := new(big.Int).Mul(bigDot(q.Values, q.Values), bigDot(v, v))
		score := dot.Div(dot.Lsh(dot, 16), root.Sqrt(root)).Int64()
		if score > 0 {
			hits = append(hits, source.Hit{ID: graph.NodeID(at[0]), Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b source.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits, other
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

// TestDenseModel compares answers at every commit of a random history with the model, for caches
// of every size: one that keeps all, one that keeps some, and one that keeps nothing.
func TestDenseModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for _, size := range []int64{0, 1200, 1} {
		r, err := care.New(t.Context(), mem.New(), repokit.By, core.Options{VectorCache: size})
		must.OK(t, err)
		m := denseModel{map[string]string{}, map[[2]string][]int8{}}
		var snapshots []*core.Snapshot
		var models []denseModel
		for range 8 {
			if text := m.change(rng); text != "" {
				repokit.Lines(t, r, text)
			}
			snapshots, models = append(snapshots, repokit.Head(t, r)), append(models, m.clone())
		}
		for range 60 {
			at := rng.IntN(len(snapshots))
			compareDense(t, rng, snapshots[at], models[at])
		}
		repokit.CheckClean(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func compareDense(t *testing.T, rng *rand.Rand, s *core.Snapshot, m denseModel) {
	t.Helper()
	q := retrieve.QueryVector{Model: []string{"m", "m2", "x", "none"}[rng.IntN(4)],
		Values: []int8{int8(rng.IntN(255) - 127), int8(rng.IntN(255) - 127), 1}}
	typ := []string{"", "A"}[rng.IntN(2)]
	// The plain ranking, whose scores are the cosines as they are.
	req := retrieve.Request{Ranking: retrieve.PlainRanking, Vectors: []retrieve.QueryVector{q}, Limit: new(0), Budget: new(0),
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Floor: retrieve.FloorRest}
	if typ != "" {
		req.Types = []string{typ}
	}
	a, err := rank.Retrieve(t.Context(), s, req)
	must.OK(t, err)
	var got []source.Hit
	for _, item := range a.Items {
		got = append(got, source.Hit{ID: item.ID, Score: item.Score})
	}
	want, other := m.rank(q, typ)
	if !slices.Equal(got, want) {
		t.Fatalf("%v, type %q:\n%v, want\n%v", q, typ, got, want)
	}
	warned := int64(0)
	for _, w := range a.Warnings {
		if w.Code == retrieve.Dimension {
			warned = w.Params[1].Value.Int()
		}
	}
	if int(warned) != other {
		t.Fatalf("%v: warned of %d other dimensions, want %d", q, warned, other)
	}
}

// TestDenseFilterKeepsOne has a filter that keeps the node that is least like the query.
func TestDenseFilterKeepsOne(t *testing.T) {
	r := repokit.OpenMem(t)
	var b strings.Builder
	for i := range 1500 {
		typ := "Many"
		if i == 700 {
			typ = "One"
		}
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":%q}}`+"\n", i, typ)
		fmt.Fprintf(&b, `{"embedding":{"node":"n%d","model":"m","vector":[1,%d]}}`+"\n", i,
			map[bool]int{true: 9, false: 0}[i == 700])
	}
	repokit.Lines(t, r, b.String())
	req := retrieve.Request{Types: []string{"One"}, Floor: retrieve.FloorRest,
		Vectors: []retrieve.QueryVector{{Model: "m", Values: []int8{127, 0}}}}
	a, err := rank.Retrieve(t.Context(), repokit.Head(t, r), req)
	if err != nil || len(a.Items) != 1 || a.Items[0].Key != "n700" || a.Candidates != 1 {
		t.Errorf("%d items, %v", len(a.Items), err)
	}
}

// TestDenseReplay replays a receipt with vectors after the memory went on.
func TestDenseReplay(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"alpha"}}
{"node":{"key":"b","type":"T","summary":"beta"}}
{"embedding":{"node":"a","model":"m","vector":[1,2]}}
{"embedding":{"node":"b","model":"m","vector":[2,1]}}
`)
	v, err := retrieve.NewQueryVector("m", []float64{0.3, 0.7})
	must.OK(t, err)
	req := retrieve.Request{Text: "beta", Vectors: []retrieve.QueryVector{v}}
	answer, err := rank.Retrieve(t.Context(), repokit.Head(t, r), req)
	if err != nil || len(answer.Items) != 2 || answer.Items[0].Key != "b" {
		t.Fatalf("%+v, %v", answer, err)
	}
	if _, err := session.Record(t.Context(), r, session.DefaultSession, answer, repokit.By); err != nil {
		t.Fatal(err)
	}
	repokit.Lines(t, r, `{"embedding":{"node":"b","model":"m","vector":[-2,1]}}`+"\n")
	res, err := session.Replay(t.Context(), r, session.DefaultSession)
	if err != nil || !res.Identical || res.Receipts != 1 {
		t.Errorf("replay %+v, %v", res, err)
	}
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
		s, err := r.At(t.Context(), first.Commit)
		must.OK(t, err)
		a, err := rank.Retrieve(t.Context(), s, req)
		must.OK(t, err)
		var keys []string
		for _, item := range a.Items {
			keys = append(keys, item.Key)
		}
		slices.Sort(keys)
		return keys
	}
	if got := at(); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatal(got)
	}
	if _, err := care.Purge(t.Context(), r, "a", care.PurgeOptions{Stamp: repokit.By}); err != nil {
		t.Fatal(err)
	}
	if got := at(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after the purge: %v", got)
	}
}

// TestDenseConcurrent asks for models from many goroutines while a cache keeps only some.
func TestDenseConcurrent(t *testing.T) {
	r, err := care.New(t.Context(), mem.New(), repokit.By, core.Options{VectorCache: 1500})
	must.OK(t, err)
	defer r.Close()
	rng := rand.New(rand.NewPCG(5, 5))
	m := denseModel{map[string]string{}, map[[2]string][]int8{}}
	for len(m.vectors) < 20 {
		repokit.Lines(t, r, m.change(rng))
	}
	s := repokit.Head(t, r)
	done := make(chan error)
	for i := range 12 {
		go func() {
			q := retrieve.QueryVector{Model: []string{"m", "m2", "x"}[i%3], Values: []int8{9, 5, 1}}
			want, _ := m.rank(q, "")
			a, err := rank.Retrieve(context.Background(), s,
				retrieve.Request{ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
					Limit: new(0), Budget: new(0), Floor: retrieve.FloorRest, Vectors: []retrieve.QueryVector{q}})
			if err == nil && len(a.Items) != len(want) {
				err = fmt.Errorf("%s: %d items, want %d", q.Model, len(a.Items), len(want))
			}
			done <- err
		}()
	}
	for range 12 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = rank.Retrieve(ctx, s, retrieve.Request{Vectors: []retrieve.QueryVector{{Model: "y",
		Values: []int8{1}}}})
	must.Fail(t, err, context.Canceled)
}

package dense_test

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/perf"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// counted counts blocks and bytes that are read, by several goroutines.
type counted struct {
	store.Blocks
	blocks, bytes *atomic.Int64
}

func (c counted) Get(ctx context.Context, cid ipld.CID) ([]byte, error) {
	data, err := c.Blocks.Get(ctx, cid)
	c.blocks.Add(1)
	c.bytes.Add(int64(len(data)))
	return data, err
}

// synthetic makes an index of made-up vectors in clusters of all sizes.
func synthetic(t testing.TB, s *perf.Synth) (store.Blocks, ipld.CID) {
	t.Helper()
	var list []dense.Change
	for c, err := range s.Embeddings(0, s.Nodes) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := graph.Quantise(c.Embedding.Vector)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, dense.Change{ID: graph.NodeID(c.Embedding.Node.Key), Model: "m", New: v})
	}
	slices.SortFunc(list, func(a, b dense.Change) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	blocks := mem.New().Derived()
	c, err := dense.Update(t.Context(), blocks, ipld.CID{}, ipld.Sum(ipld.Raw, nil), all(list),
		dense.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return blocks, c
}

func all(list []dense.Change) iter.Seq2[dense.Change, error] {
	return func(yield func(dense.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// TestRecall finds by the default shortlist .99 of the ten that comparing all finds, and bounds
// what a new process reads and what a query allocates.
func TestRecall(t *testing.T) {
	s := perf.NewSynth(1, 24_000, 0, 384)
	blocks, c := synthetic(t, s)
	x, err := dense.Open(t.Context(), blocks, c, ipld.Sum(ipld.Raw, nil), dense.NewCache(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	const questions, shortlist = 50, 1600
	for i := range questions {
		q, err := s.Question(i)
		if err != nil {
			t.Fatal(err)
		}
		v, err := graph.Quantise(q.Vector)
		if err != nil {
			t.Fatal(err)
		}
		query := dense.Query{Model: "m", Values: v, K: 10}
		want, err := x.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		query.Shortlist = shortlist
		got, err := x.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range want.Hits {
			if slices.Contains(got.Hits, h) {
				found++
			}
		}
		if i == 0 {
			checkWork(t, blocks, c, query)
		}
	}
	t.Logf("recall@10 %.4f", float64(found)/questions/10)
	if 100*found < 99*questions*10 {
		t.Errorf("found %d of %d", found, questions*10)
	}
}

// checkWork bounds what the first query of a process reads, and what the next one allocates.
func checkWork(t *testing.T, blocks store.Blocks, c ipld.CID, q dense.Query) {
	t.Helper()
	var n, size atomic.Int64
	x, err := dense.Open(t.Context(), counted{blocks, &n, &size}, c, ipld.Sum(ipld.Raw, nil),
		dense.NewCache(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	q.Shortlist = 200
	if _, err := x.Search(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	// The sketches take 1.2 MB in 18 parts, 200 rows at most as many parts of 8 KiB, of 9.7 MB.
	if n.Load() > 240 || size.Load() > 1_200_000+200*(8<<10)+200_000 {
		t.Errorf("read %d blocks of %d bytes", n.Load(), size.Load())
	}
	t.Logf("a new process reads %d blocks of %d bytes", n.Load(), size.Load())
	before := n.Load()
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	if _, err := x.Search(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&m1)
	if got := m1.TotalAlloc - m0.TotalAlloc; n.Load() != before || got > 512<<10 {
		t.Errorf("the same query again reads %d blocks and allocates %d bytes", n.Load()-before, got)
	}
}

func BenchmarkSearch(b *testing.B) {
	s := perf.NewSynth(1, 100_000, 0, 384)
	blocks, c := synthetic(b, s)
	x, err := dense.Open(b.Context(), blocks, c, ipld.Sum(ipld.Raw, nil), dense.NewCache(64<<20))
	if err != nil {
		b.Fatal(err)
	}
	q, err := s.Question(1)
	if err != nil {
		b.Fatal(err)
	}
	v, err := graph.Quantise(q.Vector)
	if err != nil {
		b.Fatal(err)
	}
	for name, n := range map[string]int{"exact": 0, "shortlist=1000": 1000, "shortlist=2500": 2500} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Search(b.Context(), dense.Query{Model: "m", Values: v, Shortlist: n}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

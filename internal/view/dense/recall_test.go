package dense_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/synthkit"
	"github.com/mnem-project/mnem/internal/view/dense"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
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

// indexed is an index of vectors, which it reads from source.
type indexed struct {
	blocks   store.Blocks
	manifest ipld.CID
	source   dense.Source
}

// index makes an index of vectors.
func index(t testing.TB, vectors iter.Seq2[graph.ID, []float64]) indexed {
	t.Helper()
	var list []dense.VectorChange
	known := map[graph.ID][]int8{}
	for id, v := range vectors {
		known[id] = quantised(t, v)
		list = append(list, dense.VectorChange{ID: id, Model: "m", New: known[id]})
	}
	slices.SortFunc(list, func(a, b dense.VectorChange) int { return a.ID.Compare(b.ID) })
	read := func(_ context.Context, _ string, ids []graph.ID) (out [][]int8, err error) {
		for _, id := range ids {
			out = append(out, known[id])
		}
		return out, nil
	}
	x := indexed{blocks: mem.New().Derived(), source: read}
	var err error
	x.manifest, err = dense.Update(t.Context(), x.blocks, ipld.CID{}, ipld.Sum(ipld.Raw, nil), all(list), dense.UpdateOptions{})
	must.OK(t, err)
	return x
}

func quantised(t testing.TB, v []float64) []int8 {
	t.Helper()
	return must.Get(graph.Quantise(v))(t)
}

func all(list []dense.VectorChange) iter.Seq2[dense.VectorChange, error] {
	return func(yield func(dense.VectorChange, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// synthetic makes an index of made-up vectors in clusters of all sizes, alike in all directions.
func synthetic(t testing.TB, s *synthkit.Synth) indexed {
	t.Helper()
	return index(t, func(yield func(graph.ID, []float64) bool) {
		for c, err := range s.Embeddings(0, s.Nodes) {
			must.OK(t, err)
			if !yield(graph.NodeID(c.Embedding.Node.Key), c.Embedding.Vector) {
				return
			}
		}
	})
}

func synthQuestions(t testing.TB, s *synthkit.Synth, n int) (list [][]int8) {
	t.Helper()
	for i := range n {
		q := must.Get(s.Question(i))(t)
		list = append(list, quantised(t, q.Vector))
	}
	return list
}

// words makes vectors like those of static embeddings: means of vectors of words. A few words are in most texts, the
// others belong to a topic; the first dimensions hold most of each vector, and their mean is not 0.
type words struct {
	rng    *rand.Rand
	vector [][]float64
	common *rand.Zipf // a word of any topic
	topics int
}

func newWords(seed uint64) *words {
	const dims, topics, count = 384, 100, 12_000
	w := &words{rng: rand.New(rand.NewPCG(seed, 5)), topics: topics}
	w.common = rand.NewZipf(w.rng, 1.1, 5, count-1)
	draw := func() []float64 {
		v := make([]float64, dims)
		for i := range v {
			v[i] = w.rng.NormFloat64() * math.Pow(float64(i+1), -.8)
		}
		return v
	}
	centres := [topics + 1][]float64{}
	for i := range centres {
		centres[i] = draw()
	}
	for i := range count {
		v := draw()
		for d := range v {
			v[d] += .7*centres[i%topics][d] + .3*centres[topics][d]
		}
		w.vector = append(w.vector, v)
	}
	return w
}

// text draws words, half of them of one topic.
func (w *words) text(n int) (list []int) {
	topic := w.rng.IntN(w.topics)
	for range n {
		word := int(w.common.Uint64())
		if w.rng.IntN(2) == 0 {
			word = word/w.topics*w.topics + topic
		}
		list = append(list, word)
	}
	return list
}

// mean is the vector of a text, frequent words counting for less.
func (w *words) mean(text []int) []float64 {
	sum := make([]float64, len(w.vector[0]))
	for _, word := range text {
		weight := 1 / (1 + 125/float64(word+5))
		for d, x := range w.vector[word] {
			sum[d] += weight * x
		}
	}
	return sum
}

// TestRecall checks that the default shortlist finds .99 of the ten nearest vectors, and bounds the reads of a query:
// the exact comparisons do not grow with the number of vectors.
func TestRecall(t *testing.T) {
	effort.Alone(t)
	questions := effort.Pick(10, 100, 100)
	for _, n := range effort.Pick([]int{24_000}, []int{24_000, 72_000}, []int{24_000, 72_000}) {
		s := synthkit.New(1, n, 0, 384)
		checkRecall(t, fmt.Sprintf("%d in clusters", n), synthetic(t, s), synthQuestions(t, s, questions), 650)
	}
	w := newWords(1)
	var texts [][]int
	x := index(t, func(yield func(graph.ID, []float64) bool) {
		for i := range 24_000 {
			texts = append(texts, w.text(8+w.rng.IntN(20)))
			if !yield(graph.NodeID(strconv.Itoa(i)), w.mean(texts[i])) {
				return
			}
		}
	})
	var list [][]int8
	for range questions {
		text := texts[w.rng.IntN(len(texts))]
		asked := []int{int(w.common.Uint64())}
		for range 4 + w.rng.IntN(4) {
			asked = append(asked, text[w.rng.IntN(len(text))])
		}
		list = append(list, quantised(t, w.mean(asked)))
	}
	checkRecall(t, "of words", x, list, 450)
}

// checkRecall asks questions by the default shortlist in new processes. Each reads all sketches and most of the ids, and
// the vectors on its shortlist, most on the average.
func checkRecall(t *testing.T, name string, in indexed, questions [][]int8, most int64) {
	t.Helper()
	var n, size, vectors atomic.Int64
	read := in.source
	in.source = func(ctx context.Context, model string, ids []graph.ID) ([][]int8, error) {
		vectors.Add(int64(len(ids)))
		return read(ctx, model, ids)
	}
	kept := in.open(t, in.blocks)
	found, all, asked := 0, 0, int64(0)
	for i, q := range questions {
		query := dense.Query{Model: "m", Values: q, K: 10}
		want := must.Get(kept.Search(t.Context(), query))(t)
		query.Near, query.Shortlist = 10, 2560
		before := vectors.Load()
		got := must.Get(in.open(t, counted{in.blocks, &n, &size}).Search(t.Context(), query))(t)
		asked += vectors.Load() - before
		for _, h := range want.Hits {
			if all++; slices.Contains(got.Hits, h) {
				found++
			}
		}
		if i == 0 {
			checkWork(t, in.open(t, counted{in.blocks, &n, &size}), query, &n)
		}
	}
	asked /= int64(len(questions))
	t.Logf("%s: recall@10 %.4f, a new process reads %d vectors, and %d blocks of %d bytes", name, float64(found)/float64(all),
		asked, n.Load()/int64(len(questions)+1), size.Load()/int64(len(questions)+1))
	must.True(t, 100*found >= 99*all && all == 10*len(questions), "%s: found %d of %d", name, found, all)
	must.True(t, asked <= most, "%s: read %d vectors for a question, want %d at most", name, asked, most)
}

// open opens an index with a new cache, as a new process does.
func (in indexed) open(t testing.TB, get segment.Blocks) *dense.Index {
	t.Helper()
	x, err := dense.Open(t.Context(), get, in.manifest, ipld.Sum(ipld.Raw, nil), in.source, segment.NewCache(64<<20))
	must.OK(t, err)
	return x
}

// checkWork bounds the allocations of a repeated query.
func checkWork(t *testing.T, x *dense.Index, q dense.Query, n *atomic.Int64) {
	t.Helper()
	must.Get(x.Search(t.Context(), q))(t)
	before := n.Load()
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	must.Get(x.Search(t.Context(), q))(t)
	runtime.ReadMemStats(&m1)
	if got := m1.TotalAlloc - m0.TotalAlloc; n.Load() != before || got > 640<<10 {
		t.Errorf("the same query again reads %d blocks and allocates %d bytes", n.Load()-before, got)
	}
}

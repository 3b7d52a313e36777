package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// zipfDocs yields n documents of about 20 words each from a vocabulary of 50,000, ids ascending.
func zipfDocs(n int) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		rng := rand.New(rand.NewPCG(7, 7))
		zipf := rand.NewZipf(rng, 1.1, 3, 50_000)
		for i := range n {
			if !yield(Change{ID: numberedID(i), New: zipfDoc(i, rng, zipf)}, nil) {
				return
			}
		}
	}
}

func numberedID(i int) (id graph.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(i+1)<<20)
	return id
}

func zipfDoc(i int, rng *rand.Rand, zipf *rand.Zipf) *Document {
	var s strings.Builder
	for range 10 + rng.IntN(20) {
		fmt.Fprintf(&s, "word%d ", zipf.Uint64())
	}
	return &Document{Node: &graph.Node{
		ID: numberedID(i), Type: []string{"Person", "Note", "Service"}[i%3], Summary: s.String(),
		Created: graph.Time(1_700_000_000_000_000 + int64(i)*1_000_003%7_919_000_000),
		Props:   []ipld.Entry{{Key: "team", Value: ipld.StringValue(fmt.Sprint("team", i%50))}},
	}}
}

// benchDocs is the number of documents of the benchmarks: 100,000, or a million where everything is asked for.
func benchDocs() int { return effort.Pick(100_000, 100_000, 1_000_000) }

// large is the index that benchmarks share.
var large = sync.OnceValues(func() (store.Blocks, ipld.CID) {
	blocks := mem.New().Derived()
	m, err := Update(context.Background(), blocks, ipld.CID{}, zipfDocs(benchDocs()), UpdateOptions{})
	if err != nil {
		panic(err)
	}
	return blocks, m
})

func BenchmarkBuild(b *testing.B) {
	docs := slices.Collect(func(yield func(Change) bool) {
		for c := range zipfDocs(benchDocs()) {
			if !yield(c) {
				return
			}
		}
	})
	for b.Loop() {
		blocks := mem.New().Derived()
		_, err := Update(b.Context(), blocks, ipld.CID{}, func(yield func(Change, error) bool) {
			for _, c := range docs {
				if !yield(c, nil) {
					return
				}
			}
		}, UpdateOptions{})
		must.OK(b, err)
	}
}

func BenchmarkText(b *testing.B) {
	blocks, m := large()
	x, err := Open(b.Context(), blocks, m, segment.NewCache(256<<20))
	must.OK(b, err)
	for _, query := range []string{"word0 word5 word40 word700", "word300 word2000", "word1"} {
		b.Run(strings.ReplaceAll(query, " ", "_"), func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := x.Text(b.Context(), query, nil, 0); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
		})
	}
	b.Run("filtered", func(b *testing.B) {
		for b.Loop() {
			_, err := x.Text(b.Context(), "word0 word5 word40 word700", func(d Doc) (bool, error) {
				v, _, err := d.Prop("team")
				return v.Text() == "team7", err
			}, 0)
			must.OK(b, err)
		}
	})
}

func BenchmarkUpdateOne(b *testing.B) {
	blocks, m := large()
	rng := rand.New(rand.NewPCG(8, 8))
	zipf := rand.NewZipf(rng, 1.1, 3, 50_000)
	n := 0
	for b.Loop() {
		n++
		d := zipfDoc(10_000_000+n, rng, zipf)
		var err error
		m, err = Update(b.Context(), blocks, m, func(yield func(Change, error) bool) {
			yield(Change{ID: d.Node.ID, New: d}, nil)
		}, UpdateOptions{})
		must.OK(b, err)
	}
}

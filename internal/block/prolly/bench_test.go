package prolly_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// million is the size of the trees that benchmarks use, built once.
const million = 1_000_000

type fixture struct {
	blocks *blocks
	keys   []string // sorted
	tree   *prolly.Map
}

var bigTree = sync.OnceValues(func() (fixture, error) {
	f := fixture{blocks: newBlocks(), keys: sortedKeys(million)}
	nodes := prolly.NewNodes(f.blocks, prolly.NewCache(64<<20))
	var err error
	f.tree, err = nodes.Build(ctx, linkEntries(f.keys))
	return f, err
})

func sortedKeys(n int) []string {
	rng := newRand(11)
	keys := make([]string, n)
	for i := range keys {
		keys[i] = key16(rng)
	}
	slices.Sort(keys)
	return keys
}

// linkEntries returns entries that hold a link for each key, as a graph's trees do. It reuses buffers.
func linkEntries(keys []string) func(func(prolly.Entry, error) bool) {
	return func(yield func(prolly.Entry, error) bool) {
		var key, value []byte
		for _, k := range keys {
			key = append(key[:0], k...)
			value = appendLinkTo(value[:0], k)
			if !yield(prolly.Entry{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}

func appendLinkTo(b []byte, key string) []byte {
	return ipld.AppendLink(b, ipld.Sum(ipld.DagCBOR, []byte(key)))
}

func big(b *testing.B) fixture {
	b.Helper()
	f, err := bigTree()
	must.OK(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	return f
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{100_000, million} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			keys := sortedKeys(n)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				nodes := prolly.NewNodes(newBlocks(), nil)
				if _, err := nodes.Build(ctx, linkEntries(keys)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entry")
		})
	}
}

func BenchmarkEditOneOfMillion(b *testing.B) {
	f := big(b)
	rng := newRand(12)
	f.blocks.reset()
	for b.Loop() {
		e := []prolly.Edit{{Key: []byte(key16(rng)), Value: appendLinkTo(nil, "new")}}
		edit(b, f.tree, e)
	}
	b.ReportMetric(float64(f.blocks.reads)/float64(b.N), "reads/op")
	b.ReportMetric(float64(f.blocks.puts)/float64(b.N), "writes/op")
}

func BenchmarkEditBulk(b *testing.B) {
	const n = 100_000
	all := sortedKeys(2 * n)
	var base []string
	var edits []prolly.Edit
	for i, k := range all {
		if i%2 == 0 {
			base = append(base, k)
		} else {
			edits = append(edits, prolly.Edit{Key: []byte(k), Value: appendLinkTo(nil, k)})
		}
	}
	nodes := prolly.NewNodes(newBlocks(), nil)
	tree, err := nodes.Build(ctx, linkEntries(base))
	must.OK(b, err)
	b.ResetTimer()
	for b.Loop() {
		edit(b, tree, edits)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(edits)), "ns/edit")
}

func BenchmarkGet(b *testing.B) {
	for _, cache := range []int64{0, 64 << 20, 1 << 30} {
		b.Run(fmt.Sprintf("cache%dMiB", cache>>20), func(b *testing.B) {
			f := big(b)
			nodes := prolly.NewNodes(f.blocks, prolly.NewCache(cache))
			tree, err := nodes.Load(ctx, f.tree.Root())
			must.OK(b, err)
			rng := newRand(13)
			for b.Loop() {
				k := f.keys[rng.IntN(million)]
				if _, ok, err := tree.Get(ctx, []byte(k)); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkDiff100OfMillion(b *testing.B) {
	f := big(b)
	rng := newRand(14)
	changes := map[string][]byte{}
	for i := range 100 {
		k := key16(rng)
		if i%2 == 0 {
			k = f.keys[rng.IntN(million)]
		}
		changes[k] = binary.BigEndian.AppendUint32([]byte{0x1a}, rng.Uint32()|1<<31)
	}
	other := edit(b, f.tree, editsOf(changes))
	f.blocks.reset()
	b.ResetTimer()
	for b.Loop() {
		cold := prolly.NewNodes(f.blocks, nil)
		from, err := cold.Load(ctx, f.tree.Root())
		must.OK(b, err)
		to, err := cold.Load(ctx, other.Root())
		must.OK(b, err)
		if got := diff(b, from, to); len(got) != len(changes) {
			b.Fatal(len(got))
		}
	}
	b.ReportMetric(float64(f.blocks.reads)/float64(b.N), "reads/op")
}

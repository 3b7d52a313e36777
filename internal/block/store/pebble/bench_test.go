package pebble

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

const benchBlocks = 100_000

func benchSet() []store.Block {
	out := make([]store.Block, benchBlocks)
	for i := range out {
		out[i] = storetest.Block(i, 300)
	}
	return out
}

func load(b *testing.B, s *Store, set []store.Block) {
	b.Helper()
	ctx := context.Background()
	for i := 0; i < len(set); i += 1000 {
		must.OK(b, s.Facts().Put(ctx, set[i:i+1000]...))
	}
	must.OK(b, s.Commit(ctx, store.Head{}, storetest.Next(store.Head{}, 1)))
}

// BenchmarkPut puts 100,000 blocks of 300 bytes in batches of 1,000, and commits.
func BenchmarkPut(b *testing.B) {
	set := benchSet()
	for b.Loop() {
		b.StopTimer()
		s := openDisk(b, b.TempDir(), Options{Create: true})
		b.StartTimer()
		load(b, s, set)
		b.StopTimer()
		must.OK(b, s.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*benchBlocks/b.Elapsed().Seconds(), "blocks/s")
}

func BenchmarkGet(b *testing.B) {
	set := benchSet()
	s := openDisk(b, b.TempDir(), Options{Create: true})
	defer s.Close()
	load(b, s, set)
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		if _, err := s.Facts().Get(context.Background(), set[rng.IntN(len(set))].CID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit commits one block of 300 bytes.
func BenchmarkCommit(b *testing.B) {
	s := openDisk(b, b.TempDir(), Options{Create: true})
	defer s.Close()
	var head store.Head
	n := 0
	for b.Loop() {
		block := storetest.Block(n, 300)
		next := store.Head{Seq: head.Seq + 1, Operation: block.CID}
		must.OK(b, s.Commit(context.Background(), head, next, block))
		head = next
		n++
	}
}

// BenchmarkOpen opens a store, reads one block and closes it; "commit" commits one block as well.
func BenchmarkOpen(b *testing.B) {
	ctx := context.Background()
	small := benchSet()[:1000]
	for _, size := range []string{"small", "large"} {
		dir := b.TempDir()
		s := openDisk(b, dir, Options{Create: true})
		set := small
		if size == "large" {
			set = benchSet()
		}
		load(b, s, set)
		must.OK(b, s.Close())
		for _, mode := range []string{"ro", "rw", "commit"} {
			b.Run(size+"/"+mode, func(b *testing.B) {
				for b.Loop() {
					s := openDisk(b, dir, Options{ReadOnly: mode == "ro"})
					if _, err := s.Facts().Get(ctx, set[0].CID); err != nil {
						b.Fatal(err)
					}
					if mode == "commit" {
						head, err := s.Head(ctx)
						must.OK(b, err)
						block := store.NewBlock(ipld.Raw, head.Operation.Bytes())
						next := store.Head{Seq: head.Seq + 1, Operation: block.CID}
						must.OK(b, s.Commit(ctx, head, next, block))
					}
					must.OK(b, s.Close())
				}
			})
		}
	}
}

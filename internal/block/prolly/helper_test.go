package prolly_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

var ctx = context.Background()

// blocks is a counting store in memory with injected failures.
type blocks struct {
	mu     sync.Mutex
	data   map[ipld.CID][]byte
	reads  int
	puts   int // blocks given to Put
	leaves int // of these, chunks of level 0
	fail   func(ipld.CID) error
	refuse error // the error that Put returns
}

func newBlocks() *blocks { return &blocks{data: map[ipld.CID][]byte{}} }

func (b *blocks) Get(_ context.Context, c ipld.CID) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	if b.fail != nil {
		if err := b.fail(c); err != nil {
			return nil, err
		}
	}
	data, ok := b.data[c]
	if !ok {
		return nil, &store.NotFoundError{CID: c}
	}
	return slices.Clone(data), nil
}

func (b *blocks) Put(_ context.Context, put ...store.Block) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse != nil {
		return b.refuse
	}
	for _, block := range put {
		if err := block.Verify(); err != nil {
			return err
		}
		b.puts++
		if bytes.Contains(block.Data, []byte("\x65level\x00")) {
			b.leaves++
		}
		b.data[block.CID] = slices.Clone(block.Data)
	}
	return nil
}

func (b *blocks) reset() { b.reads, b.puts, b.leaves = 0, 0, 0 }

// model is the naive tree.
type model map[string]string

func (m model) keys() []string { return slices.Sorted(maps.Keys(m)) }

func (m model) seq() iter.Seq2[prolly.Entry, error] {
	return func(yield func(prolly.Entry, error) bool) {
		for _, k := range m.keys() {
			if !yield(prolly.Entry{Key: []byte(k), Value: []byte(m[k])}, nil) {
				return
			}
		}
	}
}

// edit returns a copy with edits applied.
func (m model) edit(edits []prolly.Edit) model {
	out := maps.Clone(m)
	for _, e := range edits {
		if e.Value == nil {
			delete(out, string(e.Key))
		} else {
			out[string(e.Key)] = string(e.Value)
		}
	}
	return out
}

// editsOf sorts changes into edits.
func editsOf(changes map[string][]byte) []prolly.Edit {
	var out []prolly.Edit
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		out = append(out, prolly.Edit{Key: []byte(k), Value: changes[k]})
	}
	return out
}

func intValue(n uint64) []byte { return ipld.AppendInt(nil, int64(n>>1)) }

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// key16 is a random 16-byte key, like a node id.
func key16(rng *rand.Rand) string {
	b := binary.BigEndian.AppendUint64(nil, rng.Uint64())
	return string(binary.BigEndian.AppendUint64(b, rng.Uint64()))
}

func randomModel(rng *rand.Rand, n int) model {
	m := model{}
	for range n {
		m[key16(rng)] = string(intValue(rng.Uint64()))
	}
	return m
}

func build(t testing.TB, n *prolly.Nodes, m model) *prolly.Map {
	t.Helper()
	return must.Get(n.Build(ctx, m.seq()))(t)
}

func load(t testing.TB, n *prolly.Nodes, root ipld.CID) *prolly.Map {
	t.Helper()
	return must.Get(n.Load(ctx, root))(t)
}

func edit(t testing.TB, m *prolly.Map, edits []prolly.Edit) *prolly.Map {
	t.Helper()
	return must.Get(m.Edit(ctx, edits))(t)
}

func check(t testing.TB, m *prolly.Map) {
	t.Helper()
	must.OK(t, m.Check(ctx))
}

func diff(t testing.TB, a, b *prolly.Map) []prolly.Change {
	t.Helper()
	var out []prolly.Change
	for c, err := range prolly.Diff(ctx, a, b) {
		must.OK(t, err)
		out = append(out, c)
	}
	return out
}

// sequence is the key of number n.
func sequence(n int) string { return fmt.Sprintf("key/%08d", n) }

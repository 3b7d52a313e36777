package prolly_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// keySource draws keys; from a small space edits hit existing keys.
type keySource struct {
	name string
	draw func(*rand.Rand) string
}

var keySources = []keySource{
	{"small", func(r *rand.Rand) string { return fmt.Sprint(r.IntN(300)) }},
	{"numbers", func(r *rand.Rand) string { return sequence(r.IntN(20000)) }},
	{"prefixes", func(r *rand.Rand) string {
		return string(bytes.Repeat([]byte{'p'}, r.IntN(3)*100)) + fmt.Sprint(r.IntN(2000))
	}},
	{"nested", func(r *rand.Rand) string { return string(bytes.Repeat([]byte{'a'}, r.IntN(700))) }},
	{"dense", func(r *rand.Rand) string { return string([]byte{byte(r.IntN(20)), byte(r.IntN(256))}) }},
	{"ids", func(r *rand.Rand) string { return key16(r) }},
	{"skewed", func(r *rand.Rand) string { return sequence(int(r.ExpFloat64() * 200)) }},
}

// batchSize is usually small, sometimes a thousand.
func batchSize(r *rand.Rand) int {
	switch r.IntN(20) {
	case 0:
		return 1 + r.IntN(1000)
	case 1, 2, 3:
		return 1 + r.IntN(60)
	}
	return 1 + r.IntN(4)
}

func randomEdits(r *rand.Rand, src keySource, m model, removing bool) []prolly.Edit {
	keys := m.keys()
	changes := map[string][]byte{}
	for range batchSize(r) {
		op := r.IntN(4)
		if removing && r.IntN(3) > 0 {
			op = 2
		}
		switch {
		case op < 2 || len(keys) == 0:
			changes[src.draw(r)] = intValue(r.Uint64N(50))
		case op == 2:
			changes[keys[r.IntN(len(keys))]] = nil
		default:
			changes[keys[r.IntN(len(keys))]] = intValue(r.Uint64())
		}
	}
	return editsOf(changes)
}

// TestModel applies random batches to a tree and to a naive map and compares every operation.
func TestModel(t *testing.T) {
	effort.Alone(t)
	steps := effort.Pick(60, 150, 10_000/len(keySources))
	for i, src := range keySources {
		t.Run(src.name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(i + 1)
			t.Logf("seed %d", seed)
			runModel(t, newRand(seed), src, steps)
		})
	}
}

func runModel(t *testing.T, rng *rand.Rand, src keySource, steps int) {
	b := newBlocks()
	nodes := prolly.NewNodes(b, prolly.NewCache(1<<20))
	want := model{}
	tree := build(t, nodes, want)
	for step := range steps {
		edits := randomEdits(rng, src, want, step/20%3 == 2)
		next := edit(t, tree, edits)
		wantNext := want.edit(edits)
		must.Equal(t, build(t, nodes, wantNext).Root(), next.Root(), "step ", step, ": edited tree")
		if step%10 == 0 {
			check(t, next)
			compareReads(t, rng, src, next, wantNext)
		}
		changes := diff(t, tree, next)
		must.Same(t, changes, modelDiff(want, wantNext), "step ", step, ": diff")
		compareDiffs(t, src.draw(rng), tree, next, changes)
		tree, want = next, wantNext
	}
}

// compareDiffs compares DiffPrefix and the counts with the full list of changes.
func compareDiffs(t *testing.T, key string, a, b *prolly.Map, changes []prolly.Change) {
	t.Helper()
	for n := range min(len(key), 3) + 1 {
		prefix := []byte(key[:n])
		var want, got []prolly.Change
		for _, c := range changes {
			if bytes.HasPrefix(c.Key, prefix) {
				want = append(want, c)
			}
		}
		for c, err := range prolly.DiffPrefix(ctx, a, b, prefix) {
			must.OK(t, err)
			got = append(got, c)
		}
		must.Same(t, got, want, "diff of ", prefix)
	}
	var want prolly.Counts
	for _, c := range changes {
		switch {
		case c.Old == nil:
			want.Added++
		case c.New == nil:
			want.Removed++
		default:
			want.Changed++
		}
	}
	must.Equal(t, must.Get(prolly.CountDiff(ctx, a, b))(t), want, "counts")
	for chunks := 0; ; chunks = 2*chunks + 1 {
		got, exact, err := prolly.CountDiffWithin(ctx, a, b, chunks)
		if err != nil || got.Added > want.Added || got.Changed > want.Changed || got.Removed > want.Removed ||
			got.Added-got.Removed != want.Added-want.Removed || exact && got != want {
			t.Fatalf("counts by %d chunks %+v, %v, %v; want %+v", chunks, got, exact, err, want)
		}
		if exact {
			break
		}
	}
}

func modelDiff(a, b model) []prolly.Change {
	var out []prolly.Change
	both := a.edit(nil)
	for k, v := range b {
		both[k] = v
	}
	for _, k := range both.keys() {
		old, inA := a[k]
		new, inB := b[k]
		if old == new && inA == inB {
			continue
		}
		c := prolly.Change{Key: []byte(k)}
		if inA {
			c.Old = []byte(old)
		}
		if inB {
			c.New = []byte(new)
		}
		out = append(out, c)
	}
	return out
}

// compareReads compares every read with the model.
func compareReads(t *testing.T, rng *rand.Rand, src keySource, tree *prolly.Map, want model) {
	t.Helper()
	keys := want.keys()
	must.Require(t, tree.Len() == uint64(len(keys)), "Len %d, want %d", tree.Len(), len(keys))
	for range 10 {
		from, to := bound(rng, src, keys), bound(rng, src, keys)
		compareRange(t, tree, want, keys, from, to)
		key := src.draw(rng)
		value, ok, err := tree.Get(ctx, []byte(key))
		if _, has := want[key]; err != nil || ok != has || string(value) != want[key] {
			t.Fatalf("Get(%q) = %x, %v, %v; want %x", key, value, ok, err, want[key])
		}
		i := rng.IntN(len(keys) + 2)
		e, ok, err := tree.At(ctx, uint64(i))
		must.Require(t, err == nil && ok == (i < len(keys)) &&
			(!ok || (string(e.Key) == keys[i] && string(e.Value) == want[keys[i]])),
			"At(%d) = %q, %v, %v", i, e.Key, ok, err)
	}
}

// bound returns nil, an existing key or any key.
func bound(rng *rand.Rand, src keySource, keys []string) []byte {
	switch {
	case rng.IntN(4) == 0:
		return nil
	case rng.IntN(2) == 0 && len(keys) > 0:
		return []byte(keys[rng.IntN(len(keys))])
	}
	return []byte(src.draw(rng))
}

func compareRange(t *testing.T, tree *prolly.Map, want model, keys []string, from, to []byte) {
	t.Helper()
	low, high := 0, len(keys)
	if from != nil {
		low = sort.SearchStrings(keys, string(from))
	}
	if to != nil {
		high = sort.SearchStrings(keys, string(to))
	}
	wantKeys := append([]string(nil), keys[low:max(low, high)]...)
	n, err := tree.Count(ctx, from, to)
	must.Require(t, err == nil && n == uint64(len(wantKeys)),
		"Count(%q, %q) = %d, %v; want %d", from, to, n, err, len(wantKeys))
	var got []string
	for e, err := range tree.Scan(ctx, from, to) {
		must.OK(t, err, "Scan at")
		must.Equal(t, string(e.Value), want[string(e.Key)], "Scan at")
		got = append(got, string(e.Key))
	}
	must.Same(t, got, wantKeys, "Scan(", from, ", ", to, ")")
}

package prolly_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// goldenRoot is the root of the entries key/00000000 to key/00012344 whose values are their numbers as integers. It
// changes only with the format.
const goldenRoot = "bafyreiaiewardrzoorkf5af2miyfme4ty7gjeb7ijzmnplhj67l6qkbr4u"

func TestGolden(t *testing.T) {
	m := model{}
	for i := range 12345 {
		m[sequence(i)] = string(ipld.AppendInt(nil, int64(i)))
	}
	tree := build(t, prolly.NewNodes(newBlocks(), nil), m)
	must.Equal(t, tree.Root().String(), goldenRoot, "root")
	must.Equal(t, tree.Len(), 12345, "root")
	empty := build(t, prolly.NewNodes(newBlocks(), nil), nil)
	const want = "bafyreidimdhg65qe6eyavbeo62jcm4ymsbxf6pdm7a5tljyutob6afjmc4"
	got := empty.Root().String()
	must.True(t, got == want && empty.Len() == 0 && empty.Height() == 1, "empty tree %s", got)
}

// TestDiffOfHeights compares a tree with far smaller and larger ones.
func TestDiffOfHeights(t *testing.T) {
	effort.Alone(t)
	b := newBlocks()
	sizes := []int{0, 1, 30, 33, 700, 30_000}
	var trees []*prolly.Map
	for _, n := range sizes {
		trees = append(trees, sequenceTree(t, b, n))
	}
	for i, x := range trees {
		for j, y := range trees {
			changes := diff(t, x, y)
			if want := max(sizes[i], sizes[j]) - min(sizes[i], sizes[j]); len(changes) != want {
				t.Errorf("%d to %d entries: %d changes", sizes[i], sizes[j], len(changes))
			}
			var edits []prolly.Edit
			for _, c := range changes {
				edits = append(edits, prolly.Edit{Key: c.Key, Value: c.New})
			}
			if edit(t, x, edits).Root() != y.Root() {
				t.Errorf("%d to %d entries: applying the diff gives another tree", sizes[i], sizes[j])
			}
		}
	}
}

func TestWalk(t *testing.T) {
	b := newBlocks()
	tree := sequenceTree(t, b, 5000)
	seen := map[ipld.CID]int{}
	last := tree.Height()
	must.OK(t, tree.Walk(ctx, func(c ipld.CID, level int) (bool, error) {
		_, twice := seen[c]
		must.True(t, !twice && level <= last, "chunk %s of level %d", c, level)
		seen[c] = level
		last = tree.Height()
		return true, nil
	}), "chunks")
	must.Equal(t, len(seen), len(b.data), "chunks")
	b.reset()
	tops := 0
	if err := tree.Walk(ctx, func(_ ipld.CID, level int) (bool, error) {
		tops++
		return level == tree.Height()-1, nil
	}); err != nil || b.reads > 0 || tops < 3 {
		t.Errorf("walk of two levels: %d chunks, %d reads, %v", tops, b.reads, err)
	}
	stop := errors.New("stop")
	for at := range 3 {
		n := 0
		err := tree.Walk(ctx, func(ipld.CID, int) (bool, error) {
			if n++; n > at {
				return true, stop
			}
			return true, nil
		})
		must.True(t, err == stop && n == at+1, "%d calls, %v", n, err)
	}
}

func TestPrefix(t *testing.T) {
	for prefix, want := range map[string]string{
		"a": "b", "a\xff\xff": "b", "\xfe\xff": "\xff", "ab": "ac", "a\x00": "a\x01",
	} {
		must.Equal(t, string(prolly.PrefixEnd([]byte(prefix))), want, "PrefixEnd(", prefix, ")")
	}
	must.True(t, prolly.PrefixEnd(nil) == nil && prolly.PrefixEnd([]byte("\xff\xff")) == nil,
		"a prefix without an end has one")
	m := model{"": "\x01", "\xff": "\x01", "\xff\xff": "\x01", "\xff\x00": "\x01"}
	for i := range 500 {
		m[fmt.Sprint(i)] = "\x01"
	}
	tree := build(t, prolly.NewNodes(newBlocks(), nil), m)
	for _, prefix := range []string{"", "1", "12", "499", "5000", "\xff", "\xff\xff"} {
		var got, want []string
		for e, err := range tree.ScanPrefix(ctx, []byte(prefix)) {
			must.OK(t, err)
			got = append(got, string(e.Key))
		}
		for _, k := range m.keys() {
			if strings.HasPrefix(k, prefix) {
				want = append(want, k)
			}
		}
		must.Same(t, got, want, "prefix ", prefix)
	}
}

// TestConcurrentUse shares a tree and its cache among goroutines that read, edit and stop iterations early.
func TestConcurrentUse(t *testing.T) {
	b := newBlocks()
	nodes := prolly.NewNodes(b, prolly.NewCache(200<<10))
	m := randomModel(newRand(41), 3000)
	tree := build(t, nodes, m)
	keys := m.keys()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			rng := newRand(uint64(worker))
			for range 60 {
				k := keys[rng.IntN(len(keys))]
				v, ok, err := tree.Get(ctx, []byte(k))
				must.True(t, ok && err == nil && string(v) == m[k], "Get: %x, %v, %v", v, ok, err)
				next, err := tree.Edit(ctx, []prolly.Edit{{Key: []byte(k)}})
				if err != nil || next.Len() != tree.Len()-1 {
					t.Errorf("Edit: %v", err)
					return
				}
				left := 40
				for _, err := range tree.Scan(ctx, []byte(k), nil) {
					if left--; err != nil || left == 0 {
						break
					}
				}
				for c, err := range prolly.Diff(ctx, tree, next) {
					must.True(t, err == nil && string(c.Key) == k, "Diff: %q, %v", c.Key, err)
					break
				}
			}
		})
	}
	wg.Wait()
}

func TestFill(t *testing.T) {
	nodes := prolly.NewNodes(newBlocks(), nil)
	empty := build(t, nodes, nil)
	edits := []prolly.Edit{
		{Key: []byte("a"), Value: []byte{1}}, {Key: []byte("b")}, {Key: []byte("c"), Value: []byte{2}},
	}
	got := must.Get(empty.Fill(ctx, slices.Values(edits)))(t)
	want := build(t, nodes, model{"a": "\x01", "c": "\x02"})
	must.Equal(t, got.Root(), want.Root(), "root")
	must.Fail(t, must.Err(got.Fill(ctx, slices.Values(edits))), prolly.ErrInput)
	slices.Reverse(edits)
	must.Fail(t, must.Err(empty.Fill(ctx, slices.Values(edits))), prolly.ErrInput)
}

// mergeModel is the three-way merge by its definition; it returns the conflicts too.
func mergeModel(base, left, right model, resolve func(prolly.Conflict) []byte) (model, []prolly.Conflict) {
	all := base.edit(nil)
	for _, m := range []model{left, right} {
		for k, v := range m {
			all[k] = v
		}
	}
	out := model{}
	var conflicts []prolly.Conflict
	for _, k := range all.keys() {
		b, l, r := at(base, k), at(left, k), at(right, k)
		merged := l
		switch {
		case string(l) == string(r) || string(r) == string(b):
		case string(l) == string(b):
			merged = r
		default:
			c := prolly.Conflict{Key: []byte(k), Base: b, Left: l, Right: r}
			conflicts = append(conflicts, c)
			merged = resolve(c)
		}
		if merged != nil {
			out[k] = string(merged)
		}
	}
	return out, conflicts
}

// at is the value under k, nil if there is none. Values are never empty.
func at(m model, k string) []byte {
	if v, ok := m[k]; ok {
		return []byte(v)
	}
	return nil
}

func keepLeft(c prolly.Conflict) []byte  { return c.Left }
func keepRight(c prolly.Conflict) []byte { return c.Right }
func drop(prolly.Conflict) []byte        { return nil }
func another(prolly.Conflict) []byte     { return []byte("\x63new") }

func TestMerge(t *testing.T) {
	effort.Alone(t)
	const seed = 31
	t.Logf("seed %d", seed)
	rng := newRand(seed)
	nodes := prolly.NewNodes(newBlocks(), prolly.NewCache(1<<20))
	resolvers := []func(prolly.Conflict) []byte{keepLeft, keepRight, drop, another}
	rounds := effort.Pick(120, 300, 5000)
	conflicts := 0
	for i := range rounds {
		src := keySources[i%len(keySources)]
		base := model{}
		for range rng.IntN(4) {
			base = base.edit(randomEdits(rng, src, base, false))
		}
		left, right := change(rng, src, base), change(rng, src, base)
		want, wantConflicts := mergeModel(base, left, right, resolvers[i%len(resolvers)])
		var got []prolly.Conflict
		merged := must.Get(prolly.Merge(ctx, build(t, nodes, base), build(t, nodes, left),
			build(t, nodes, right), func(c prolly.Conflict) ([]byte, error) {
				got = append(got, c)
				return resolvers[i%len(resolvers)](c), nil
			}))(t)
		must.Same(t, got, wantConflicts, "round ", i, ": conflicts")
		must.Equal(t, merged.Root(), build(t, nodes, want).Root(), "round ", i, ": merged tree is not the model's")
		conflicts += len(got)
	}
	must.True(t, conflicts >= rounds/4, "only %d conflicts in %d rounds", conflicts, rounds)
}

// change applies a few edits, from a small key space so that both sides of a merge meet.
func change(rng *rand.Rand, src keySource, m model) model {
	for range rng.IntN(3) {
		m = m.edit(randomEdits(rng, src, m, rng.IntN(4) == 0))
	}
	return m
}

func TestMergeRefused(t *testing.T) {
	nodes := prolly.NewNodes(newBlocks(), nil)
	base := build(t, nodes, model{"k": "\x01"})
	left := build(t, nodes, model{"k": "\x02"})
	right := build(t, nodes, model{"k": "\x03"})
	refused := errors.New("refused")
	merge := func(value []byte, err error) error {
		_, err = prolly.Merge(ctx, base, left, right, func(prolly.Conflict) ([]byte, error) { return value, err })
		return err
	}
	must.Fail(t, merge(nil, refused), refused)
	must.Fail(t, merge([]byte{0xff}, nil), prolly.ErrInput)
}

// million is the size of the trees that benchmarks use, built once.
const million = 1_000_000

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

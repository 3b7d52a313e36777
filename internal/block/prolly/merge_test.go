package prolly_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// mergeModel is the three-way merge by its definition; it returns the conflicts too.
func mergeModel(
	base, left, right model, resolve func(prolly.Conflict) []byte,
) (model, []prolly.Conflict) {
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
	must.Check(t, conflicts >= rounds/4, "only %d conflicts in %d rounds", conflicts, rounds)
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
		_, err = prolly.Merge(ctx, base, left, right, func(prolly.Conflict) ([]byte, error) {
			return value, err
		})
		return err
	}
	must.Fail(t, merge(nil, refused), refused)
	must.Fail(t, merge([]byte{0xff}, nil), prolly.ErrInput)
}

package distill_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// world is a graph in memory.
type world struct {
	facts map[graph.ID]distill.Fact
	edges map[[2]graph.ID]int // by source and scope, to the rule
	props map[graph.ID]string
}

func newWorld() *world {
	return &world{map[graph.ID]distill.Fact{}, map[[2]graph.ID]int{}, map[graph.ID]string{}}
}

func (w *world) clone() *world {
	return &world{maps.Clone(w.facts), maps.Clone(w.edges), maps.Clone(w.props)}
}

func (w *world) Fact(_ context.Context, id graph.ID) (*distill.Fact, error) {
	if f, ok := w.facts[id]; ok {
		return &f, nil
	}
	return nil, nil
}

func (w *world) Up(_ context.Context, id graph.ID) (out []distill.Target, err error) {
	for e, rule := range w.edges {
		if e[0] == id && e[1] != id {
			out = append(out, distill.Target{ID: e[1], Rule: rule})
		}
	}
	if name := w.props[id]; name != "" {
		out = append(out, distill.Target{ID: distill.PseudoScope(name), Rule: 2, Name: name})
	}
	return out, nil
}

func (w *world) Down(_ context.Context, id graph.ID) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		for e := range w.edges {
			if e[1] == id && e[0] != id && !yield(e[0], nil) {
				return
			}
		}
	}
}

// made runs an update.
func made(
	t testing.TB, blocks distill.Blocks, base distill.Tree, old, now *world, touched []graph.ID,
) (distill.Tree, distill.Work) {
	t.Helper()
	u := distill.Update{
		Blocks: blocks, Recipe: distill.Default(), Base: base, Old: old, New: now,
		Refuse: func(s string) bool { return strings.Contains(s, "hunter2") },
		Touched: func(yield func(graph.ID, error) bool) {
			for _, id := range touched {
				if !yield(id, nil) {
					return
				}
			}
		},
	}
	tree, work, err := u.Run(t.Context())
	must.OK(t, err)
	return tree, work
}

func none(t testing.TB, blocks distill.Blocks) distill.Tree {
	t.Helper()
	m := must.Get(prolly.NewNodes(blocks, nil).Build(t.Context(), func(func(prolly.Entry, error) bool) {}))(t)
	return distill.Tree{Scopes: m, Hashes: m}
}

func fresh(t testing.TB, blocks distill.Blocks, w *world) (distill.Tree, distill.Work) {
	t.Helper()
	ids := slices.Collect(maps.Keys(w.facts)) // in whatever order
	for e := range w.edges {
		ids = append(ids, e[0], e[1])
	}
	return made(t, blocks, none(t, blocks), newWorld(), w, ids)
}

func blocksOf() distill.Blocks { return store.NewStage(mem.New().Derived(), 0) }

func idOf(n int) graph.ID { return graph.NodeID(fmt.Sprintf("n%d", n)) }

var vocabulary = strings.Fields(`payment ledger refund gateway tide harbour berth mooring winter guest
	invoice deploy rollback cluster index token budget session agent memory scope digest review merge`)

func sentence(rng *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[rng.IntN(len(vocabulary))])
	}
	fmt.Fprintf(&b, " %d.", rng.IntN(100))
	return b.String()
}

func (w *world) put(rng *rand.Rand, n int) {
	id := idOf(n)
	text := sentence(rng, 5)
	for range rng.IntN(3) {
		text += " " + sentence(rng, 4)
	}
	switch rng.IntN(12) {
	case 0:
		text = "the same words everywhere" // equal hashes
	case 1:
		text = strings.Repeat(sentence(rng, 8)+" ", 300) // too long for a leaf of two
	case 2:
		text += " The password is hunter2."
	}
	f := distill.Fact{ID: id, Text: text, Created: graph.Time(rng.IntN(1000)), Hidden: rng.IntN(10) == 0}
	if rng.IntN(5) == 0 {
		f.Until = graph.At(graph.Time(rng.IntN(1000)))
	}
	w.facts[id] = f
}

// change makes one edit and returns the touched nodes.
func (w *world) change(rng *rand.Rand, nodes int) []graph.ID {
	a, b := rng.IntN(nodes), rng.IntN(1+rng.IntN(nodes))
	switch rng.IntN(8) {
	case 0:
		delete(w.facts, idOf(a))
		delete(w.props, idOf(a))
		touched := []graph.ID{idOf(a)}
		for e := range w.edges {
			if e[0] == idOf(a) || e[1] == idOf(a) {
				delete(w.edges, e)
				touched = append(touched, e[0], e[1])
			}
		}
		return touched
	case 1, 2, 3:
		w.put(rng, a)
		return []graph.ID{idOf(a)}
	case 4:
		w.props[idOf(a)] = []string{"", "prop team=blue", "prop team=red"}[rng.IntN(3)]
		if _, ok := w.facts[idOf(a)]; !ok {
			delete(w.props, idOf(a))
		}
		return []graph.ID{idOf(a)}
	case 5:
		for e := range w.edges {
			if e[0] == idOf(a) {
				delete(w.edges, e)
				return e[:]
			}
		}
		return nil
	}
	_, okA := w.facts[idOf(a)]
	if _, okB := w.facts[idOf(b)]; !okA || !okB {
		return nil
	}
	w.edges[[2]graph.ID{idOf(a), idOf(b)}] = rng.IntN(2)
	return []graph.ID{idOf(a), idOf(b)}
}

// TestUpdateIsFresh: whatever was edited, and in whatever steps, the digests are those made from scratch.
func TestUpdateIsFresh(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 19))
		nodes := []int{6, 40, 300}[seed%3]
		blocks := blocksOf()
		w := newWorld()
		for n := range nodes {
			if rng.IntN(3) > 0 {
				w.put(rng, n)
			}
		}
		tree, _ := fresh(t, blocks, w)
		for step := range 25 {
			old := w.clone()
			var touched []graph.ID
			for range 1 + rng.IntN(4) {
				touched = append(touched, w.change(rng, nodes)...)
			}
			tree, _ = made(t, blocks, tree, old, w, touched)
			want, _ := fresh(t, blocks, w)
			must.Require(t, tree.Root == want.Root && tree.Scopes.Root() == want.Scopes.Root() &&
				tree.Hashes.Root() == want.Hashes.Root(),
				"seed %d, step %d: the tree is another one than from scratch", seed, step)
		}
		check(t, blocks, tree, w)
	}
}

// check looks at all digests of a tree.
func check(t *testing.T, blocks distill.Blocks, tree distill.Tree, w *world) {
	t.Helper()
	visible := 0
	for _, f := range w.facts {
		if !f.Hidden {
			visible++
		}
	}
	if !tree.Root.Defined() {
		must.Require(t, visible <= 0, "no root of %d facts", visible)
		return
	}
	seen, digests := map[graph.ID]bool{}, map[ipld.CID]bool{}
	err := distill.Walk(t.Context(), blocks, tree.Root, func(c ipld.CID) (bool, error) {
		d, err := distill.Read(t.Context(), blocks, c)
		if err != nil {
			return false, err
		}
		must.True(t, d.Label != "" || !d.Scope.IsZero() || d.Facts == visible,
			"the root has %d facts of %d", d.Facts, visible)
		if len(d.Kids) == 1 || len(d.Kids) > 0 && d.Members <= distill.MaxMembers && d.Size <= distill.MaxSize {
			t.Errorf("%s: %d children with %d members", d.ID(), len(d.Kids), d.Members)
		}
		if strings.Contains(distill.JoinText(d.Text), "hunter2") {
			t.Errorf("%s has a credential", d.ID())
		}
		if digests[c] {
			return false, nil
		}
		digests[c] = true
		first, ok, err := tree.Sourced(t.Context(), d.Source)
		if err != nil || !ok || first.ID != d.ID() && !sameSource(t, blocks, tree, first.ID, d.Source) {
			t.Errorf("of the source of %s: %+v, %v", d.ID(), first, err)
		}
		found, at, err := tree.Find(t.Context(), blocks, d.Scope, d.Label)
		if err != nil || found == nil || at != c {
			t.Errorf("%s is not found: %v", d.ID(), err)
		}
		for _, e := range d.Entries {
			if !e.Link.Defined() {
				seen[e.Key.ID()] = true
			}
		}
		return true, err
	})
	must.Require(t, err == nil && len(seen) == visible, "%d facts of %d: %v", len(seen), visible, err)
	got, want := tree.Hashes.Len(), uint64(5*(visible+len(digests)))
	must.True(t, got == want, "%d hashes of %d digests and %d facts", got, len(digests), visible)
	for id, f := range w.facts {
		list, err := tree.Above(t.Context(), blocks, w, id)
		must.Require(t, err == nil && f.Hidden == (len(list) == 0), "%s: %d digests above, %v", id, len(list), err)
		if f.Hidden {
			continue
		}
		if !slices.ContainsFunc(list[0].Entries, func(e distill.Entry) bool { return e.Key.ID() == id }) {
			t.Errorf("%s is not in the leaf %s", id, list[0].ID())
		}
	}
}

// TestUpdateCost: one changed fact recomputes the digests on its path and no other.
func TestUpdateCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	blocks := blocksOf()
	w := newWorld()
	for n := range 3000 {
		w.facts[idOf(n)] = distill.Fact{ID: idOf(n), Text: sentence(rng, 9)}
		if n > 50 && n%2 == 0 {
			w.edges[[2]graph.ID{idOf(n), idOf(n % 50)}] = 0
		}
	}
	tree, first := fresh(t, blocks, w)
	for range 100 {
		old := w.clone()
		id := idOf(rng.IntN(3000))
		before := must.Get(tree.Above(t.Context(), blocks, w, id))(t)
		w.facts[id] = distill.Fact{ID: id, Text: sentence(rng, 9)}
		next, work := made(t, blocks, tree, old, w, []graph.ID{id})
		after := must.Get(next.Above(t.Context(), blocks, w, id))(t)
		height := max(len(before), len(after))
		must.True(t, work.Digests <= 2*height+4 && work.Facts <= 4*distill.MaxMembers,
			"height %d: %+v", height, work)
		tree = next
	}
	must.True(t, first.Digests >= 100, "only %d digests", first.Digests)
	_, nothing := made(t, blocks, tree, w, w, nil)
	must.True(t, nothing.Digests <= 1, "%+v for nothing", nothing)
}

// TestCompare: walking two trees finds the facts that differ, and reads little.
func TestCompare(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 5))
		blocks := blocksOf()
		w := newWorld()
		const nodes = 1500
		for n := range nodes {
			w.facts[idOf(n)] = distill.Fact{ID: idOf(n), Text: sentence(rng, 9)}
			if n > 20 && n%3 == 0 {
				w.edges[[2]graph.ID{idOf(n), idOf(n % 20)}] = 0
			}
		}
		tree, first := fresh(t, blocks, w)
		old := w.clone()
		var touched []graph.ID
		for range 20 {
			touched = append(touched, w.change(rng, nodes)...)
		}
		next, _ := made(t, blocks, tree, old, w, touched)
		got := must.Get(distill.Compare(t.Context(), blocks, tree, next, 10_000))(t)
		var want []distill.FactChange
		for n := range nodes {
			a, okA := old.facts[idOf(n)]
			b, okB := w.facts[idOf(n)]
			okA, okB = okA && !a.Hidden, okB && !b.Hidden
			if okA != okB || okA && a.Text != b.Text {
				want = append(want, distill.FactChange{ID: idOf(n), Old: okA, New: okB})
			}
		}
		slices.SortFunc(want, func(x, y distill.FactChange) int { return x.ID.Compare(y.ID) })
		for i := range got.Facts {
			got.Facts[i].Scope = graph.ID{}
		}
		must.Same(t, got.Facts, want, "seed ", seed, ": facts")
		must.True(t, got.Read != 0 && got.Read <= first.Digests,
			"seed %d: %d of %d digests read", seed, got.Read, first.Digests)
		few := must.Get(distill.Compare(t.Context(), blocks, tree, next, 3))(t)
		must.True(t, few.More, "seed %d: %+v", seed, few)
	}
}

// sameSource reports whether a digest has a source.
func sameSource(t *testing.T, blocks distill.Blocks, tree distill.Tree, name string, source distill.Source) bool {
	t.Helper()
	scope, label, ok := distill.ParseID(name)
	if !ok {
		return false
	}
	d, _, err := tree.Find(t.Context(), blocks, scope, label)
	return err == nil && d != nil && d.Source == source
}

// TestNear: a search by hash finds everything near, at any distance, also if it looks up only some parts.
func TestNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	blocks := blocksOf()
	w := newWorld()
	for n := range 2000 {
		w.facts[idOf(n)] = distill.Fact{ID: idOf(n), Text: sentence(rng, 9), Hidden: n%50 == 49}
		if n > 20 && n%3 == 0 {
			w.edges[[2]graph.ID{idOf(n), idOf(n % 20)}] = 0
		}
	}
	tree, _ := fresh(t, blocks, w)
	all := map[string]distill.Sem{}
	for id, f := range w.facts {
		if !f.Hidden {
			all[id.String()], _ = distill.SemOf(f.Text)
		}
	}
	facts := len(all)
	err := distill.Walk(t.Context(), blocks, tree.Root, func(c ipld.CID) (bool, error) {
		d, err := distill.Read(t.Context(), blocks, c)
		all[d.ID()+" "+d.Kind()] = d.Sem
		return true, err
	})
	must.Require(t, err == nil && len(all) >= facts+50, "%d facts and %d digests: %v", facts, len(all)-facts, err)
	less := false
	for n := range 25 {
		sem := must.Get(distill.SemOf(w.facts[idOf(n)].Text))(t)
		sem ^= distill.Sem(n) << (n % 60)
		for _, most := range []int{0, 3, 5, 8, 13, 20, 64} {
			want := map[string]int{}
			for name, other := range all {
				if d := sem.Distance(other); d <= most {
					want[name] = d
				}
			}
			list, read, err := tree.Near(t.Context(), sem, most)
			must.OK(t, err)
			got, last := map[string]int{}, 0
			for _, one := range list {
				name := one.ID
				if one.Kind != "fact" {
					name += " " + one.Kind
				}
				got[name] = one.Distance
				must.True(t, one.Distance >= last, "%s comes after what is farther", name)
				last = one.Distance
			}
			must.True(t, maps.Equal(got, want) && len(list) == len(got),
				"%d found within %d of %s, want %d", len(got), most, sem, len(want))
			if most <= 5 {
				less = less || read < len(all)/2
			}
			must.True(t, read <= 4*len(all) && (most <= 13 || read == len(all)), "%d compared of %d", read, len(all))
		}
	}
	must.True(t, less, "all hashes were compared, however near they are to be")
}

// TestHashesDamaged: a key that no hash can have is refused when it is read.
func TestHashesDamaged(t *testing.T) {
	blocks := blocksOf()
	source := distill.Source{7}
	near := make([]byte, 9) // part 0, the hash 0
	from := append([]byte{4}, source[:]...)
	id := make([]byte, graph.IDLen)
	for name, tail := range map[string][]byte{
		"no id":             {'f'},
		"no kind":           append([]byte{'x'}, id...),
		"a fact with label": append(append([]byte{'f'}, id...), '1'),
		"no digits":         append(append([]byte{'d'}, id...), "01x"...),
		"too many digits":   append(append([]byte{'d'}, id...), strings.Repeat("0", 97)...),
	} {
		tree := distill.Tree{}
		for _, key := range [][]byte{append(slices.Clone(near), tail...), append(slices.Clone(from), tail...)} {
			m, err := none(t, blocks).Hashes.Edit(t.Context(), []prolly.Edit{{Key: key, Value: ipld.AppendNull(nil)}})
			must.OK(t, err)
			tree.Hashes = m
			if key[0] == 4 {
				_, _, err = tree.Sourced(t.Context(), source)
			} else {
				_, _, err = tree.Near(t.Context(), 0, 8)
			}
			must.Fail(t, err, store.ErrCorrupt, name, ", part ", key[0])
		}
	}
}

// FuzzDecodeDigest: what is decoded encodes to the same bytes, and the rest is refused by one error.
func FuzzDecodeDigest(f *testing.F) {
	d := distill.Digest{
		Label: "31", At: "312", Members: 1, Text: []distill.Sentence{{Fact: idOf(1), Text: "It rains."}},
		Entries: []distill.Entry{{Totals: distill.Totals{Size: 3, Facts: 1, Tokens: 3, Until: graph.At(5)}}},
	}
	f.Add(d.Encode())
	f.Add([]byte{0xa0})
	f.Add([]byte("\xa1dkindfdigest"))
	f.Fuzz(func(t *testing.T, block []byte) {
		got, err := distill.DecodeDigest(block)
		switch {
		case err != nil && !errors.Is(err, distill.ErrInvalid):
			t.Errorf("error %v", err)
		case err == nil && !bytes.Equal(got.Encode(), block):
			t.Error("encodes to other bytes")
		}
	})
}

func TestParseID(t *testing.T) {
	for _, id := range []string{"root", "root/0123", idOf(1).String(), idOf(1).String() + "/3"} {
		scope, label, ok := distill.ParseID(id)
		must.True(t, ok && distill.DigestID(scope, label) == id, "%s: %s %q %v", id, scope, label, ok)
	}
	for _, id := range []string{"", "root/", "root/4", "root/3/1", "x", graph.ID{}.String(), "root/" + strings.Repeat("0", 97)} {
		_, _, ok := distill.ParseID(id)
		must.True(t, !ok, "%q is taken for a digest", id)
	}
}

package ipld_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/node/basicnode"
	"github.com/ipld/go-ipld-prime/traversal"
	selectorparse "github.com/ipld/go-ipld-prime/traversal/selector/parse"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
)

const (
	everything = `{"R":{"l":{"none":{}},":>":{"a":{">":{"@":{}}}}}}`
	oneLevel   = `{"R":{"l":{"depth":3},":>":{"a":{">":{"@":{}}}}}}`
	content    = `{"f":{"f>":{"children":{"a":{">":{"f":{"f>":{"content":{".":{}}}}}}}}}}`
)

// family is three generations of blocks: the root has two children, which have one leaf.
func family(store *blocks) (root, a, b, leaf ipld.CID) {
	leaf = store.put(ipld.Raw, []byte("leaf"))
	child := func(name string) ipld.CID {
		return store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
			ipld.Entry{Key: "name", Value: ipld.StringValue(name)},
			ipld.Entry{Key: "content", Value: ipld.LinkValue(leaf)})))
	}
	a, b = child("a"), child("b")
	root = store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
		ipld.Entry{Key: "children", Value: ipld.ListValue(ipld.LinkValue(a), ipld.LinkValue(b))})))
	return root, a, b, leaf
}

func TestSelectorWalk(t *testing.T) {
	var store blocks
	root, a, b, leaf := family(&store)
	names := map[ipld.CID]string{root: "root", a: "a", b: "b", leaf: "leaf"}
	for _, c := range []struct {
		selector, want string
		skip           ipld.CID
	}{
		{selector: everything, want: "root a leaf b"},
		{selector: oneLevel, want: "root a b"},
		{selector: content, want: "root a leaf b"},
		{selector: `{".":{}}`, want: "root"},
		{selector: everything, skip: a, want: "root b leaf"},
		{selector: everything, skip: root, want: ""},
	} {
		s := must.Get(ipld.ParseSelector([]byte(c.selector)))(t)
		var got []string
		must.OK(t, s.Walk(t.Context(), root, func(ctx context.Context, id ipld.CID) ([]byte, error) {
			if id == c.skip {
				return nil, ipld.ErrSkip
			}
			got = append(got, names[id])
			return store.get(ctx, id)
		}), c.selector, " without ", names[c.skip])
		must.Equal(t, cmp.Diff(c.want, strings.Join(got, " ")), "", c.selector, " without ", names[c.skip])
	}
}

func TestSelectorRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":{">":`, 25) + `{".":{}}` + strings.Repeat(`}}`, 25)
	must.Get(ipld.ParseSelector([]byte(deep)))(t, "25 levels")
	for _, text := range []string{
		`{"R":{"l":{"depth":-1},":>":{"@":{}}}}`, `{"a":{">":{"@":{}}}}`, `{"~":{"as":"x",">":{".":{}}}}`,
		`{"R":{"l":{"none":{}},":>":{".":{}}}}`, `{"i":{"i":-1,">":{".":{}}}}`, `{"a":{">":{".":{}},"x":1}}`,
		``, `{}`, `[]`, `1`, `{"R":{}}`, `{"@":{}}`, `{"?":{}}`,
		`{".":{}} ` + "\x00", `{".":{},".":{}}`, strings.Repeat(" ", ipld.MaxSelector) + `{".":{}}`,
		strings.Repeat(`{"a":{">":`, 5000) + `{".":{}}` + strings.Repeat(`}}`, 5000),
	} {
		_, err := ipld.ParseSelector([]byte(text))
		must.True(t, errors.Is(err, ipld.ErrSelector) || errors.Is(err, ipld.ErrJSON), "%.60q: %v", text, err)
	}
}

// TestSelectorEnds walks a chain of blocks that is longer than a walk may be.
func TestSelectorEnds(t *testing.T) {
	var store blocks
	last := store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue()))
	for range ipld.MaxSelectorPath + 10 {
		last = store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
			ipld.Entry{Key: "next", Value: ipld.LinkValue(last)})))
	}
	s := must.Get(ipld.ParseSelector([]byte(everything)))(t)
	must.Fail(t, s.Walk(t.Context(), last, store.get), ipld.ErrSelector)
	missing := ipld.Sum(ipld.Raw, []byte("not there"))
	must.Fail(t, s.Walk(t.Context(), missing, store.get), errMissing)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(t, s.Walk(ctx, last, store.get), context.Canceled)
}

// FuzzSelector: no text makes the parser or a walk panic, each block is read once, and go-ipld-prime
// reads the same blocks in the same order.
func FuzzSelector(f *testing.F) {
	for _, text := range []string{everything, oneLevel, content, `{"~":{"as":"x",">":{".":{}}}}`,
		`{"r":{"^":0,"$":1,">":{".":{}}}}`, `{"i":{"i":0,">":{".":{}}}}`, `{"|":[{".":{}},{"a":{">":{".":{}}}}]}`,
		`{"R":{"l":{"depth":4},":>":{"|":[{".":{}},{"f":{"f>":{"children":{"a":{">":{"@":{}}}}}}}]}}}`,
		`{"f":{"f>":{"children":{"f":{"f>":{"1":{".":{}},"0":{"a":{">":{".":{}}}}}}}}}}`,
		`{".":{"subset":{"[":0,"]":9}}}`} {
		f.Add([]byte(text))
	}
	var store blocks
	root, _, _, _ := family(&store)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ipld.ParseSelector(text)
		if err != nil {
			return
		}
		var got []ipld.CID
		read := make(map[ipld.CID]bool)
		must.OK(t, s.Walk(t.Context(), root, func(ctx context.Context, id ipld.CID) ([]byte, error) {
			must.Require(t, !read[id], "%s is read twice", id)
			read[id] = true
			got = append(got, id)
			return store.get(ctx, id)
		}))
		want, ok := walkByPrime(t, store.get, root, text)
		must.Require(t, !ok || slices.Equal(got, want), "%s: read %v, go-ipld-prime %v", text, got, want)
	})
}

// manyDigits is a number that makes go-ipld-prime list every position before it, or a sign that it
// takes for a part of one.
var manyDigits = regexp.MustCompile(`[0-9]{4}|[-+]`)

// walkByPrime returns the blocks that go-ipld-prime reads. ok is whether it knows the selector.
func walkByPrime(
	t *testing.T, get func(context.Context, ipld.CID) ([]byte, error), root ipld.CID, text []byte,
) (order []ipld.CID, ok bool) {
	if manyDigits.Match(text) {
		return nil, false
	}
	v := must.Get(ipld.ParseJSON(text))(t)
	of, err := selectorparse.ParseAndCompileJSONSelector(string(ipld.AppendJSON(nil, v))) // fields in canonical order
	if err != nil {
		return nil, false
	}
	ls := prime.LinkSystem(func(ctx context.Context, id ipld.CID) ([]byte, error) {
		order = append(order, id)
		return get(ctx, id)
	})
	first := must.Get(load(ls, prime.Cid(root)))(t)
	must.OK(t, traversal.Progress{Cfg: &traversal.Config{
		LinkSystem: ls, LinkTargetNodePrototypeChooser: basicnode.Chooser, LinkVisitOnlyOnce: true,
	}}.WalkAdv(first, of, func(traversal.Progress, datamodel.Node, traversal.VisitReason) error { return nil }))
	return order, true
}

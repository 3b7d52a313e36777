package ipld_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/linking"
	cidlink "github.com/ipld/go-ipld-prime/linking/cid"
	"github.com/ipld/go-ipld-prime/node/basicnode"
	"github.com/ipld/go-ipld-prime/traversal"
	"github.com/ipld/go-ipld-prime/traversal/selector"
	"github.com/ipld/go-ipld-prime/traversal/selector/builder"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
	"pgregory.net/rapid"
)

func TestDAGJSON(t *testing.T) {
	cborCID := ipld.Sum(ipld.DagCBOR, nil)
	object := ipld.MapValue(
		ipld.Entry{Key: "b", Value: ipld.FloatValue(1)},
		ipld.Entry{Key: "aa", Value: ipld.MapValue(
			ipld.Entry{Key: "z"}, ipld.Entry{Key: "yy", Value: ipld.BytesValue([]byte{0xff})})})
	slash := ipld.MapValue(ipld.Entry{Key: "/", Value: ipld.StringValue(emptyText)})
	cases := []struct {
		name  string
		c     ipld.CID
		block []byte
		want  string
		err   error
	}{
		{"map keys bytewise", cborCID, ipld.AppendValue(nil, object),
			`{"aa":{"yy":{"/":{"bytes":"/w"}},"z":null},"b":1.0}`, nil},
		{"raw", ipld.Sum(ipld.Raw, nil), []byte("ab"), `{"/":{"bytes":"YWI"}}`, nil},
		{"raw, not UTF-8", ipld.Sum(ipld.Raw, nil), []byte{0xff}, `{"/":{"bytes":"/w"}}`, nil},
		{"raw too large", ipld.Sum(ipld.Raw, nil), make([]byte, ipld.MaxBlock+1), "", ipld.ErrInvalid},
		{"not canonical", cborCID, unhex(t, "a2616201616102"), "", ipld.ErrInvalid},
		{"undefined", cborCID, unhex(t, "f7"), "", ipld.ErrInvalid},
		{"reserved key", cborCID, ipld.AppendValue(nil, slash), "", ipld.ErrJSON},
		{"no CID", ipld.CID{}, nil, "", ipld.ErrCID},
	}
	for _, c := range cases {
		var out bytes.Buffer
		must.Fail(t, ipld.DAGJSON(&out, c.c, c.block), c.err, c.name)
		must.Equal(t, out.String(), c.want, c.name)
	}
}

func TestNode(t *testing.T) {
	accepted, refused := vectors(t)
	for name, block := range accepted {
		n := must.Get(prime.Node(block))(t, name)
		want := must.Get(ipld.DecodeValue(block))(t)
		if got := fromNode(t, n); !got.Equal(want) {
			t.Errorf("%s: node is %s", name, show(got))
		}
	}
	for name, block := range refused {
		must.Fail(t, must.Err(prime.Node(block)), ipld.ErrInvalid, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(2).Draw(t, "value")
		n := must.Get(prime.Node(ipld.AppendValue(nil, v)))(t)
		if got := fromNode(t, n); !got.Equal(v) {
			t.Fatalf("node of %s is %s", show(v), show(got))
		}
	})
}

// fromNode reads a node through its interface, as other people's tools do.
func fromNode(t must.T, n datamodel.Node) ipld.Value {
	switch n.Kind() {
	case datamodel.Kind_Bool:
		return ipld.BoolValue(must.Get(n.AsBool())(t))
	case datamodel.Kind_Int:
		return ipld.IntValue(must.Get(n.AsInt())(t))
	case datamodel.Kind_Float:
		return ipld.FloatValue(must.Get(n.AsFloat())(t))
	case datamodel.Kind_String:
		return ipld.StringValue(must.Get(n.AsString())(t))
	case datamodel.Kind_Bytes:
		return ipld.BytesValue(must.Get(n.AsBytes())(t))
	case datamodel.Kind_Link:
		return ipld.LinkValue(must.Get(prime.FromCid(must.Get(n.AsLink())(t).(cidlink.Link).Cid))(t))
	case datamodel.Kind_List:
		var items []ipld.Value
		for it := n.ListIterator(); !it.Done(); {
			_, item, err := it.Next()
			must.OK(t, err)
			items = append(items, fromNode(t, item))
		}
		return ipld.ListValue(items...)
	case datamodel.Kind_Map:
		var entries []ipld.Entry
		for it := n.MapIterator(); !it.Done(); {
			k, item, err := it.Next()
			must.OK(t, err)
			entries = append(entries, ipld.Entry{Key: must.Get(k.AsString())(t), Value: fromNode(t, item)})
		}
		return ipld.MapValue(entries...)
	default:
		return ipld.Value{}
	}
}

// blocks is a set of blocks that counts reads.
type blocks struct {
	data map[ipld.CID][]byte
	gets int
}

var errMissing = errors.New("missing")

func (b *blocks) put(codec ipld.Codec, data []byte) ipld.CID {
	c := ipld.Sum(codec, data)
	if b.data == nil {
		b.data = map[ipld.CID][]byte{}
	}
	b.data[c] = data
	return c
}

func (b *blocks) get(_ context.Context, c ipld.CID) ([]byte, error) {
	b.gets++
	data, ok := b.data[c]
	if !ok {
		return nil, errMissing
	}
	return data, nil
}

func load(ls linking.LinkSystem, c cid.Cid) (datamodel.Node, error) {
	return ls.Load(linking.LinkContext{}, cidlink.Link{Cid: c}, basicnode.Prototype.Any)
}

// TestTraversal walks three generations of blocks and a raw leaf with a selector.
func TestTraversal(t *testing.T) {
	var store blocks
	leaf := store.put(ipld.Raw, []byte("leaf"))
	child := store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
		ipld.Entry{Key: "name", Value: ipld.StringValue("child")},
		ipld.Entry{Key: "content", Value: ipld.LinkValue(leaf)})))
	root := store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
		ipld.Entry{Key: "name", Value: ipld.StringValue("root")},
		ipld.Entry{Key: "children", Value: ipld.ListValue(ipld.LinkValue(child))})))

	spec := builder.NewSelectorSpecBuilder(basicnode.Prototype.Any)
	all := must.Get(spec.ExploreRecursive(selector.RecursionLimitDepth(10), spec.ExploreUnion(
		spec.Matcher(), spec.ExploreAll(spec.ExploreRecursiveEdge()))).Selector())(t)
	ls := prime.LinkSystem(store.get)
	start := must.Get(load(ls, prime.Cid(root)))(t)
	var visited []string
	must.OK(t, traversal.Progress{Cfg: &traversal.Config{
		LinkSystem: ls, LinkTargetNodePrototypeChooser: basicnode.Chooser,
	}}.WalkMatching(start, all, func(p traversal.Progress, n datamodel.Node) error {
		visited = append(visited, p.Path.String()+" "+n.Kind().String())
		return nil
	}))
	must.Same(t, visited, []string{
		" map", "name string", "children list", "children/0 map", "children/0/name string",
		"children/0/content bytes",
	})
	must.Equal(t, store.gets, 3, "reads")
}

func TestLinkSystemRefuses(t *testing.T) {
	var store blocks
	lax := store.put(ipld.DagCBOR, unhex(t, "f7"))
	forged := ipld.Sum(ipld.Raw, []byte("what was asked for"))
	store.data[forged] = []byte("something else")
	large := store.put(ipld.Raw, make([]byte, ipld.MaxBlock+1))
	ls := prime.LinkSystem(store.get)

	for c, want := range map[ipld.CID]error{
		lax: ipld.ErrInvalid, large: ipld.ErrInvalid, ipld.Sum(ipld.Raw, nil): errMissing,
	} {
		must.Fail(t, must.Err(load(ls, prime.Cid(c))), want, c)
	}
	var mismatch *ipld.MismatchError
	if _, err := load(ls, prime.Cid(forged)); !errors.As(err, &mismatch) ||
		mismatch.Want != forged || mismatch.Got != ipld.Sum(ipld.Raw, []byte("something else")) {
		t.Errorf("forged block: %v", err)
	}
	must.True(t, must.Err(ls.LoadRaw(linking.LinkContext{}, cidlink.Link{Cid: prime.Cid(forged)})) != nil,
		"forged block was read raw")

	reads := store.gets
	old := cid.NewCidV0(prime.Cid(forged).Hash())
	for _, c := range []cid.Cid{old, cid.NewCidV1(cid.DagJSON, prime.Cid(forged).Hash())} {
		must.Fail(t, must.Err(load(ls, c)), ipld.ErrCID, c)
	}
	must.Equal(t, store.gets, reads, "a foreign CID reached the store")
	must.Fail(t, must.Err(ls.Store(linking.LinkContext{}, cidlink.LinkPrototype{Prefix: prime.Cid(forged).Prefix()},
		basicnode.NewBool(true))), prime.ErrReadOnly)
}

func TestLinks(t *testing.T) {
	a, b := ipld.Sum(ipld.Raw, []byte("a")), ipld.Sum(ipld.DagCBOR, []byte("b"))
	block := ipld.AppendValue(nil, ipld.ListValue(ipld.LinkValue(b), ipld.MapValue(
		ipld.Entry{Key: "x", Value: ipld.LinkValue(a)}), ipld.LinkValue(b)))
	c := ipld.Sum(ipld.DagCBOR, block)
	collect := func(c ipld.CID, block []byte) (found []string, err error) {
		err = ipld.Links(c, block, func(link ipld.CID) error {
			found = append(found, link.String())
			return nil
		})
		return found, err
	}
	found, err := collect(c, block)
	must.Same(t, found, []string{b.String(), a.String(), b.String()})
	must.OK(t, err)
	found, err = collect(a, block)
	must.True(t, found == nil && err == nil, "raw block: %v, %v", found, err)
	found, err = collect(c, append(block, 0))
	must.True(t, found == nil && errors.Is(err, ipld.ErrInvalid), "trailing byte: %v, %v", found, err)
	stop := errors.New("stop")
	err = ipld.Links(c, block, func(ipld.CID) error { return stop })
	must.True(t, err == stop, "got %v", err)
}

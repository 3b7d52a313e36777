package exchange_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	_ "github.com/ipld/go-ipld-prime/codec/dagcbor"
	_ "github.com/ipld/go-ipld-prime/codec/raw"

	"github.com/ipfs/go-cid"
	oracle "github.com/ipld/go-car/v2"
	"github.com/ipld/go-car/v2/storage"
	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/linking"
	cidlink "github.com/ipld/go-ipld-prime/linking/cid"
	"github.com/ipld/go-ipld-prime/node/basicnode"
	"github.com/ipld/go-ipld-prime/traversal"
	"github.com/ipld/go-ipld-prime/traversal/selector"
	"github.com/ipld/go-ipld-prime/traversal/selector/builder"

	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld/prime"
)

// theirs reads a file with go-car.
func theirs(t *testing.T, file []byte) (root cid.Cid, order []cid.Cid, blocks map[string][]byte) {
	t.Helper()
	r := must.Get(oracle.NewBlockReader(bytes.NewReader(file)))(t)
	blocks = make(map[string][]byte)
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Roots[0], order, blocks
		}
		must.OK(t, err)
		order = append(order, b.Cid())
		blocks[b.Cid().KeyString()] = b.RawData()
	}
}

// TestOtherToolsReadAnExport reads a file with go-car and walks all of it with go-ipld-prime, with
// the codecs of that: every block is reached, in the order of the file.
func TestOtherToolsReadAnExport(t *testing.T) {
	r, _ := repokit.OverMem(t)
	fill(t, r)
	file, res := repokit.Export(t, r, exchange.ExportOptions{All: true})
	root, order, blocks := theirs(t, file)
	must.Require(t, len(order) == res.Blocks && len(blocks) == res.Blocks && root == prime.Cid(res.Roots[0]),
		"%d blocks, %d of them distinct, want %d", len(order), len(blocks), res.Blocks)
	ls := cidlink.DefaultLinkSystem()
	var loaded []cid.Cid
	ls.StorageReadOpener = func(_ linking.LinkContext, l datamodel.Link) (io.Reader, error) {
		c := l.(cidlink.Link).Cid
		loaded = append(loaded, c)
		data, ok := blocks[c.KeyString()]
		if !ok {
			return nil, errors.New("no block " + c.String())
		}
		return bytes.NewReader(data), nil
	}
	any := func(datamodel.Link, linking.LinkContext) (datamodel.NodePrototype, error) {
		return basicnode.Prototype.Any, nil
	}
	spec := builder.NewSelectorSpecBuilder(basicnode.Prototype.Any)
	all := must.Get(spec.ExploreRecursive(selector.RecursionLimitNone(),
		spec.ExploreAll(spec.ExploreRecursiveEdge())).Selector())(t)
	start := must.Get(ls.Load(linking.LinkContext{}, cidlink.Link{Cid: root}, basicnode.Prototype.Any))(t)
	walk := traversal.Progress{Cfg: &traversal.Config{
		LinkSystem: ls, LinkTargetNodePrototypeChooser: any, LinkVisitOnlyOnce: true,
	}}
	err := walk.WalkMatching(start, all, func(traversal.Progress, datamodel.Node) error { return nil })
	must.OK(t, err)
	must.Require(t, len(loaded) == len(order), "%d blocks reached, %d in the file", len(loaded), len(order))
	for i := range order {
		must.Equal(t, loaded[i], order[i], "block ", i, ", the walk comes")
	}
}

// TestImportOfAnotherToolsFile imports a file that go-car wrote.
func TestImportOfAnotherToolsFile(t *testing.T) {
	r, _ := repokit.OverMem(t)
	fill(t, r)
	file, _ := repokit.Export(t, r, exchange.ExportOptions{All: true})
	root, order, blocks := theirs(t, file)
	var out bytes.Buffer
	w := must.Get(storage.NewWritable(&out, []cid.Cid{root}, oracle.WriteAsCarV1(true)))(t)
	for _, c := range order {
		must.OK(t, w.Put(context.Background(), c.KeyString(), blocks[c.KeyString()]))
	}
	must.OK(t, w.Finalize())
	must.Same(t, out.Bytes(), file, "written by go-car it is another file")
	to, _ := repokit.OverMem(t)
	repokit.ImportInto(t, to, out.Bytes(), exchange.ImportOptions{})
	a, b := repokit.Head(t, r).CID(), repokit.Head(t, to).CID()
	must.True(t, a == b, "head is %s, want %s", b, a)
}

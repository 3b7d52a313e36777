package graph

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/ipld"
)

type record interface {
	Validate() error
	Encode() []byte
}

// equalRecords lets cmp look at CIDs and values.
var equalRecords = cmp.Options{
	cmp.Comparer(func(a, b ipld.CID) bool { return a == b }),
	cmp.Comparer(func(a, b ipld.Value) bool { return a.Equal(b) }),
}

// testRoundTrip checks that every generated record is valid, is canonical DAG-CBOR, and decodes
// to itself.
func testRoundTrip[T record](
	t *testing.T, gen *rapid.Generator[T], decode func([]byte) (T, error),
) {
	rapid.Check(t, func(t *rapid.T) {
		want := gen.Draw(t, "record")
		if err := want.Validate(); err != nil {
			t.Fatalf("generated record is invalid: %v", err)
		}
		block := want.Encode()
		if err := ipld.Check(block); err != nil {
			t.Fatal(err)
		}
		got, err := decode(block)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, equalRecords); diff != "" {
			t.Fatalf("decoded record differs (-want +got):\n%s", diff)
		}
		if again := got.Encode(); !bytes.Equal(block, again) {
			t.Fatalf("encoded again: %x, was %x", again, block)
		}
	})
}

func TestRoundTrip(t *testing.T) {
	t.Run("node", func(t *testing.T) { testRoundTrip(t, genNode(), DecodeNode) })
	t.Run("edge", func(t *testing.T) { testRoundTrip(t, genEdge(), DecodeEdge) })
	t.Run("mark", func(t *testing.T) { testRoundTrip(t, genMark(), DecodeMark) })
	t.Run("embedding", func(t *testing.T) { testRoundTrip(t, genEmbedding(), DecodeEmbedding) })
	t.Run("graph", func(t *testing.T) { testRoundTrip(t, genGraph(), DecodeGraph) })
}

// The golden records use every field.

func goldenNode() *Node {
	return &Node{
		ID: NodeID("alice"), Key: "alice", Type: "Person", Summary: "Alice leads infra",
		Context: "From the staff list.",
		Props: []ipld.Entry{
			{Key: "team", Value: ipld.StringValue("infra")},
			{Key: "since", Value: ipld.IntValue(2024)},
		},
		Content: &Content{Text: "# Alice", Size: 7, Media: "text/markdown"},
		Created: 1_790_000_000_000_000, Updated: At(1_790_000_000_000_001),
		ValidFrom: At(-1), ValidTo: At(0), Sources: []string{"staff.md"},
		Extra: []ipld.Entry{{Key: "mood", Value: ipld.BoolValue(true)}},
	}
}

func goldenEdge() *Edge {
	src, dst := NodeID("alice"), NodeID("svc/billing")
	return &Edge{
		ID: EdgeID(src, "owns", dst, "a"), Type: "owns", Src: src, Dst: dst, Key: "a",
		Weight: 1 << 15, Props: []ipld.Entry{{Key: "since", Value: ipld.IntValue(2024)}},
		Created: 1_790_000_000_000_000, ValidFrom: At(-1), ValidTo: At(0),
		Sources: []string{"staff.md"},
	}
}

func goldenMark() *Mark {
	return &Mark{
		On: OnNode, ID: NodeID("alice"), State: Superseded, By: NodeID("bob"), Reason: "left",
		Actor: "carol", Time: 1_790_000_000_000_000,
	}
}

func goldenEmbedding(t *testing.T) *Embedding {
	t.Helper()
	e, err := NewDense("m", []float64{0.1, -0.2, 0}, TextHash(goldenNode(), "# Alice"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func goldenSparse(t *testing.T) *Embedding {
	t.Helper()
	e, err := NewSparse("s", []SparseWeight{{"berth", 0.7}, {"pay", 1.25}}, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func goldenGraph() *Graph {
	tree := func(s string) ipld.CID { return ipld.Sum(ipld.DagCBOR, []byte(s)) }
	return &Graph{
		Nodes: tree("n"), Edges: tree("e"), Out: tree("o"), In: tree("i"), Marks: tree("m"),
		Counts: Counts{Nodes: 3, Edges: 2, Marks: 1},
	}
}

// TestGolden pins the bytes and the CID of one record of each kind.
func TestGolden(t *testing.T) {
	cases := []struct {
		name   string
		record record
		block  string // hex
		cid    string
	}{
		{"node", goldenNode(), `
			af61760162696450b4a9765ef642c681561bde25662639d2636b657965616c696365646b696e64646e6f6465
			646d6f6f64f5647479706566506572736f6e6570726f7073a2647465616d65696e6672616573696e63651907
			e867636f6e74656e74a36473697a65076474657874672320416c696365656d656469616d746578742f6d6172
			6b646f776e67636f6e746578747446726f6d20746865207374616666206c6973742e67637265617465641b00
			065bfeda25e00067736f7572636573816873746166662e6d646773756d6d61727971416c696365206c656164
			7320696e66726167757064617465641b00065bfeda25e0016776616c6964546f006976616c696446726f6d20
		`,
			"bafyreienocoivgl3pja7726mdvrf3byngacmmytchyxy2oc6wmjql54jtu"},
		{"edge", goldenEdge(), `
			ad617601626964506a939c53aa38467015ef63ee36a5e21d636473745091473a549c9b49eded2dc861a9816a
			13636b657961616373726350b4a9765ef642c681561bde25662639d2646b696e646465646765647479706564
			6f776e736570726f7073a16573696e63651907e86677656967687419800067637265617465641b00065bfeda
			25e00067736f7572636573816873746166662e6d646776616c6964546f006976616c696446726f6d20
		`,
			"bafyreibjpph6zyjjavfkuuvsvkq26zztkjjsvhz4sngglfnsgvywl67nba"},
		{"mark", goldenMark(), `
			a9617601626279502feaa828e9065cdaa0a709e77ac69c7262696450b4a9765ef642c681561bde25662639d2
			626f6e646e6f6465646b696e64646d61726b6474696d651b00065bfeda25e000656163746f72656361726f6c
			6573746174656a7375706572736564656466726561736f6e646c656674
		`,
			"bafyreiaeow32snrywen3lsy6rqux5xyw6s73erpamsu7xcel5zbuh6h5ye"},
		{"embedding", goldenEmbedding(t), `
			a76176016464696d7303646b696e6469656d62656464696e6764746578745820e676cfa3fbd9d9eef621cf17
			5ad4e9f689baef4976407283e26e28a747515727656474797065626938656d6f64656c616d66766563746f72
			43408100
		`,
			"bafyreidyaysjch6ruhh2ynsjzzxeitn5zghwde3yxdy2ixs4cs7ibracla"},
		{"sparse", goldenSparse(t), `
			a76176016464696d7302646b696e6469656d62656464696e6764746578745820010000000000000000000000
			000000000000000000000000000000000000000065647479706566737061727365656d6f64656c6173667665
			63746f7253a2637061791a0001400065626572746819b333
		`,
			"bafyreiefosxk75xhsfxcemgrdllhxgjwezeqynzmpnuzlwsqvkj7bdnoi4"},
		{"graph", goldenGraph(), `
			a861760162696ed82a58250001711220de7d1b721a1e0632b7cf04edf5032c8ecffa9f9a08492152b926f1a5
			a7e765d7636f7574d82a5825000171122065c74c15a686187bb6bbf9958f494fc6b80068034a659a9ad44991
			b08c58f2d2646b696e64656772617068656564676573d82a582500017112203f79bb7b435b05321651daefd3
			74cdc681dc06faa65e374e38337b88ca046dea656d61726b73d82a5825000171122062c66a7a5dd70c314661
			8063c344e531e6d4b59e379808443ce962b3abd63c5a656e6f646573d82a582500017112201b16b1df538ba1
			2dc3f97edbb85caa7050d46c148134290feba80f8236c83db966636f756e7473a365656467657302656d6172
			6b7301656e6f64657303
		`,
			"bafyreiccpjgo4b6t23yvphtercgkbit3bilyr4hymfw64ggtye2jf6y6vu"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.record.Validate(); err != nil {
				t.Fatal(err)
			}
			block := c.record.Encode()
			want := strings.Join(strings.Fields(c.block), "")
			if got := hex.EncodeToString(block); got != want {
				t.Errorf("block is\n%s\nwant\n%s", got, want)
			}
			if got := ipld.Sum(ipld.DagCBOR, block).String(); got != c.cid {
				t.Errorf("CID is %s, want %s", got, c.cid)
			}
		})
	}
}

// TestDecodeRefuses takes a valid record and breaks it in one way at a time.
func TestDecodeRefuses(t *testing.T) {
	decoders := map[string]func([]byte) error{
		"node":      func(b []byte) error { _, err := DecodeNode(b); return err },
		"edge":      func(b []byte) error { _, err := DecodeEdge(b); return err },
		"mark":      func(b []byte) error { _, err := DecodeMark(b); return err },
		"embedding": func(b []byte) error { _, err := DecodeEmbedding(b); return err },
		"graph":     func(b []byte) error { _, err := DecodeGraph(b); return err },
	}
	blocks := map[string][]byte{
		"node": goldenNode().Encode(), "edge": goldenEdge().Encode(),
		"mark": goldenMark().Encode(), "embedding": goldenEmbedding(t).Encode(),
		"graph": goldenGraph().Encode(),
	}
	optional := map[string]bool{
		"key": true, "summary": true, "context": true, "content": true, "updated": true,
		"validTo": true, "validFrom": true, "sources": true, "by": true, "reason": true,
		"mood": true,
	}
	wrong := map[ipld.Kind]ipld.Value{
		ipld.Int: ipld.StringValue("1"), ipld.String: ipld.IntValue(1),
		ipld.Bytes: ipld.StringValue("0123456789abcdef"), ipld.List: ipld.IntValue(1),
		ipld.Map: ipld.ListValue(), ipld.Link: ipld.IntValue(1),
	}
	for kind, block := range blocks {
		v, err := ipld.DecodeValue(block)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range v.Entries() {
			if e.Key == "mood" {
				continue
			}
			swapped := append([]ipld.Entry(nil), v.Entries()...)
			swapped[i].Value = wrong[e.Value.Kind()]
			expectInvalid(t, kind+" with wrong "+e.Key, decoders[kind], swapped)
			if !optional[e.Key] {
				without := append(append([]ipld.Entry(nil), v.Entries()[:i]...), v.Entries()[i+1:]...)
				expectInvalid(t, kind+" without "+e.Key, decoders[kind], without)
			}
			for n := range block {
				if err := decoders[kind](block[:n]); !errors.Is(err, ipld.ErrInvalid) {
					t.Fatalf("%s cut to %d bytes: %v", kind, n, err)
				}
			}
		}
	}
}

func expectInvalid(t *testing.T, what string, decode func([]byte) error, entries []ipld.Entry) {
	t.Helper()
	err := decode(ipld.AppendValue(nil, ipld.MapValue(entries...)))
	if !errors.Is(err, ipld.ErrInvalid) {
		t.Errorf("%s: error %v, want one that wraps ipld.ErrInvalid", what, err)
	}
}

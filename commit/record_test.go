package commit

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

type record interface {
	Validate() error
	Encode() []byte
}

var equalRecords = cmp.Options{
	cmp.Comparer(func(a, b ipld.CID) bool { return a == b }),
	cmp.Comparer(func(a, b ipld.Value) bool { return a.Equal(b) }),
}

func link(s string) ipld.CID { return ipld.Sum(ipld.DagCBOR, []byte(s)) }

func goldenCommit() *Commit {
	c := &Commit{
		Parents: []ipld.CID{link("p"), link("q")}, Height: 7, Graph: link("g"),
		Vectors: link("v"), Author: "Alice <alice@example.org>", Agent: "scribe", Task: "notes",
		Time: 1_790_000_000_000_000, Message: Message{Text: "first\n"},
		Extra: []ipld.Entry{{Key: "mood", Value: ipld.BoolValue(true)}},
	}
	c.Change = ChangeID(c)
	c.Signature = []byte{1, 2, 3}
	return c
}

func goldenOperation() *Operation {
	return &Operation{
		Parent: link("p"), Seq: 12, Skip: link("s"), View: link("v"), Actor: "Alice",
		Time: 1_790_000_000_000_000, Command: []string{"commit", "--message"},
	}
}

func goldenStage() *Stage {
	return &Stage{
		Base: link("b"), Branch: graph.BranchRef("main"), Graph: link("g"), Vectors: link("v"),
	}
}

func goldenTag() *Tag {
	return &Tag{
		Target: link("c"), Name: "v1/first", Tagger: "Alice", Time: 1_790_000_000_000_000,
		Message: Message{Text: "the first\n"},
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
		{"commit", goldenCommit(), `
			ae617601646b696e6466636f6d6d6974646d6f6f64f5647461736b656e6f7465736474696d651b00065bfeda
			25e000656167656e7466736372696265656772617068d82a58250001711220cd0aa9856147b6c5b4ff2b7dfe
			e5da20aa38253099ef1b4a64aced233c9afe2966617574686f727819416c696365203c616c69636540657861
			6d706c652e6f72673e666368616e6765505b00dd6179ab0a694173b561696b2f086668656967687407676d65
			73736167656666697273740a67706172656e747382d82a58250001711220148de9c5a7a44d19e56cd9ae1a55
			4bf67847afb0c58f6e12fa29ac7ddfca9940d82a582500017112208e35c2cd3bf6641bdb0e2050b76932cbb2
			e6034a0ddacc1d9bea82a6ba57f7cf67766563746f7273d82a582500017112204c94485e0c21ae6c41ce1dfe
			7b6bfaceea5ab68e40a2476f50208e526f506080697369676e617475726543010203
		`,
			"bafyreiatushzd7tjkoiledlolivjzaxpz5vtudtdajq5ebxrgxcap5a55y"},
		{"operation", goldenOperation(), `
			a9617601637365710c646b696e64696f7065726174696f6e64736b6970d82a58250001711220043a718774c5
			72bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf896474696d651b00065bfeda25e00064766965
			77d82a582500017112204c94485e0c21ae6c41ce1dfe7b6bfaceea5ab68e40a2476f50208e526f5060806561
			63746f7265416c69636566706172656e74d82a58250001711220148de9c5a7a44d19e56cd9ae1a554bf67847
			afb0c58f6e12fa29ac7ddfca994067636f6d6d616e648266636f6d6d6974692d2d6d657373616765
		`,
			"bafyreieubhjeycpfofmfsfmzij5sa4lfa5yh4zmravezrobtqhb25hflui"},
		{"stage", goldenStage(), `
			a66176016462617365d82a582500017112203e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73
			eeaed59c009d646b696e64657374616765656772617068d82a58250001711220cd0aa9856147b6c5b4ff2b7d
			fee5da20aa38253099ef1b4a64aced233c9afe29666272616e63686f726566732f68656164732f6d61696e67
			766563746f7273d82a582500017112204c94485e0c21ae6c41ce1dfe7b6bfaceea5ab68e40a2476f50208e52
			6f506080
		`,
			"bafyreictdo62csgslelgmxlbl4vy2ktyf4254hd5pfqy7rjqfqhiip7hfu"},
		{"tag", goldenTag(), `
			a7617601646b696e6463746167646e616d656876312f66697273746474696d651b00065bfeda25e000667461
			6767657265416c69636566746172676574d82a582500017112202e7d2c03a9507ae265ecf5b5356885a53393
			a2029d241394997265a1a25aefc6676d6573736167656a7468652066697273740a
		`,
			"bafyreicjrpclbtlpj2tdsaq3o4x25av4hsk3fj5m4xkd7tj3bucl3fpyha"},
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

func TestChangeID(t *testing.T) {
	c := goldenCommit()
	first := c.Change
	c.Signature, c.Change = nil, graph.ID{1}
	if got := ChangeID(c); got != first {
		t.Errorf("change and signature change the change id: %s, was %s", got, first)
	}
	c.Message.Text += "!"
	if got := ChangeID(c); got == first {
		t.Error("the message does not change the change id")
	}
	signed := goldenCommit()
	unsigned := *signed
	unsigned.Signature = nil
	if !bytes.Equal(signed.Unsigned(), unsigned.Encode()) {
		t.Error("Unsigned is not the record without its signature")
	}
}

func genText(most int) *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[a-zü ]{1,9}`), rapid.Just(strings.Repeat("x", most)))
}

func genLinks(low, high int) *rapid.Generator[[]ipld.CID] {
	return rapid.Custom(func(t *rapid.T) (links []ipld.CID) {
		for i := range rapid.IntRange(low, high).Draw(t, "links") {
			links = append(links, link(string(rune('a'+i))))
		}
		return links
	})
}

func genOptLink(t *rapid.T, name string) ipld.CID {
	if rapid.Bool().Draw(t, name) {
		return link(name)
	}
	return ipld.CID{}
}

func genExtra(t *rapid.T) []ipld.Entry {
	extra := []ipld.Entry{
		{Key: "a", Value: ipld.ListValue(ipld.IntValue(1), ipld.StringValue("x"))},
		{Key: "zzzz", Value: ipld.LinkValue(link("z"))},
		{Key: "a far longer name", Value: ipld.Value{}},
	}
	return extra[rapid.IntRange(0, 2).Draw(t, "extra"):]
}

func genTime(t *rapid.T) graph.Time {
	return graph.Time(rapid.Int64Range(int64(graph.MinTime), int64(graph.MaxTime)).Draw(t, "time"))
}

func genCommit(t *rapid.T) *Commit {
	c := &Commit{
		Parents: genLinks(0, MaxParents).Draw(t, "parents"), Graph: link("g"), Height: 1,
		Vectors: genOptLink(t, "vectors"), Author: genText(graph.MaxActor).Draw(t, "author"),
		Time: genTime(t), Message: genMessage(t),
		Signature: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "signature"), Extra: genExtra(t),
	}
	if len(c.Parents) > 0 {
		c.Height = rapid.Uint64Range(2, graph.MaxCount).Draw(t, "height")
	}
	if len(c.Signature) == 0 {
		c.Signature = nil
	}
	if rapid.Bool().Draw(t, "agent?") {
		c.Agent, c.Task = genText(graph.MaxActor).Draw(t, "agent"), "t"
	}
	c.Change = ChangeID(c)
	return c
}

func genOperation(t *rapid.T) *Operation {
	o := &Operation{
		Seq: rapid.Uint64Range(1, 40).Draw(t, "seq"), View: link("v"), Time: genTime(t),
		Actor:   genText(graph.MaxActor).Draw(t, "actor"),
		Command: rapid.SliceOfN(genText(MaxWord), 1, MaxCommand).Draw(t, "command"),
		Extra:   genExtra(t),
	}
	if o.Seq > 1 {
		o.Parent = link("p")
	}
	if Skip(o.Seq) != 0 {
		o.Skip = link("s")
	}
	if o.Seq > 1 && rapid.Bool().Draw(t, "kept") {
		o.Horizon = rapid.Uint64Range(2, o.Seq).Draw(t, "horizon")
	}
	if o.Undoes = genOptLink(t, "undoes"); !o.Undoes.Defined() {
		o.Redoes = genOptLink(t, "redoes")
	}
	return o
}

func genStage(t *rapid.T) *Stage {
	return &Stage{
		Base: genOptLink(t, "base"), Branch: graph.BranchRef("a/b"), Graph: link("g"),
		Vectors: genOptLink(t, "vectors"), Extra: genExtra(t),
	}
}

func genTag(t *rapid.T) *Tag {
	return &Tag{
		Target: link("c"), Name: rapid.StringMatching(`[a-z0-9]{1,9}(/[a-z]{1,9})?`).Draw(t, "name"),
		Tagger: genText(graph.MaxActor).Draw(t, "tagger"), Time: genTime(t),
		Message: genMessage(t), Extra: genExtra(t),
	}
}

// testRoundTrip checks that every generated record is valid, is canonical DAG-CBOR, and decodes
// to itself.
func testRoundTrip[T record](t *testing.T, gen func(*rapid.T) T, decode func([]byte) (T, error)) {
	rapid.Check(t, func(t *rapid.T) {
		want := gen(t)
		if err := want.Validate(); err != nil {
			t.Fatalf("generated record is invalid: %v", err)
		}
		block := want.Encode()
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
	t.Run("commit", func(t *testing.T) { testRoundTrip(t, genCommit, DecodeCommit) })
	t.Run("operation", func(t *testing.T) { testRoundTrip(t, genOperation, DecodeOperation) })
	t.Run("stage", func(t *testing.T) { testRoundTrip(t, genStage, DecodeStage) })
	t.Run("tag", func(t *testing.T) { testRoundTrip(t, genTag, DecodeTag) })
	t.Run("redaction", func(t *testing.T) { testRoundTrip(t, genRedaction, DecodeRedaction) })
}

// decoders are the decoders by kind; each returns the record it read.
var decoders = map[string]func([]byte) (record, error){
	KindCommit:    func(b []byte) (record, error) { return DecodeCommit(b) },
	KindOperation: func(b []byte) (record, error) { return DecodeOperation(b) },
	KindStage:     func(b []byte) (record, error) { return DecodeStage(b) },
	KindTag:       func(b []byte) (record, error) { return DecodeTag(b) },
	KindRedaction: func(b []byte) (record, error) { return DecodeRedaction(b) },
}

func goldenBlocks() map[string][]byte {
	return map[string][]byte{
		KindCommit: goldenCommit().Encode(), KindOperation: goldenOperation().Encode(),
		KindStage: goldenStage().Encode(), KindTag: goldenTag().Encode(),
		KindRedaction: goldenRedaction().Encode(),
	}
}

// TestDecodeRefuses takes a valid record and breaks it in one way at a time.
func TestDecodeRefuses(t *testing.T) {
	optional := []string{
		"vectors", "agent", "task", "signature", "base", "mood", "reason", "node",
	}
	wrong := map[ipld.Kind]ipld.Value{
		ipld.Int: ipld.StringValue("1"), ipld.String: ipld.IntValue(1),
		ipld.Bytes: ipld.StringValue("0123456789abcdef"), ipld.List: ipld.IntValue(1),
		ipld.Link: ipld.IntValue(1), ipld.Bool: ipld.Value{},
	}
	refused := func(t *testing.T, what string, entries []ipld.Entry, kind string) {
		_, err := decoders[kind](ipld.AppendValue(nil, ipld.MapValue(entries...)))
		if !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%s %s: error %v, want one that wraps ipld.ErrInvalid", kind, what, err)
		}
	}
	for kind, block := range goldenBlocks() {
		v, err := ipld.DecodeValue(block)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range v.Entries() {
			if e.Key != "mood" {
				swapped := slices.Clone(v.Entries())
				swapped[i].Value = wrong[e.Value.Kind()]
				refused(t, "with wrong "+e.Key, swapped, kind)
			}
			if !slices.Contains(optional, e.Key) {
				refused(t, "without "+e.Key, slices.Delete(slices.Clone(v.Entries()), i, i+1), kind)
			}
		}
		for n := range block {
			if _, err := decoders[kind](block[:n]); !errors.Is(err, ipld.ErrInvalid) {
				t.Fatalf("%s cut to %d bytes: %v", kind, n, err)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	type edit struct {
		field  string
		commit func(*Commit)
	}
	for _, e := range []edit{
		{"parents", func(c *Commit) { c.Parents = append(c.Parents, c.Parents[0]) }},
		{"parents", func(c *Commit) { c.Parents[0] = ipld.Sum(ipld.Raw, nil) }},
		{"parents", func(c *Commit) { c.Parents = make([]ipld.CID, MaxParents+1) }},
		{"height", func(c *Commit) { c.Height = 1 }},
		{"height", func(c *Commit) { c.Height = 0 }},
		{"height", func(c *Commit) { c.Parents = nil }},
		{"graph", func(c *Commit) { c.Graph = ipld.CID{} }},
		{"vectors", func(c *Commit) { c.Vectors = ipld.Sum(ipld.Raw, nil) }},
		{"author", func(c *Commit) { c.Author = "" }},
		{"author", func(c *Commit) { c.Author = "a\nb" }},
		{"author", func(c *Commit) { c.Author = "a\u0085b" }},
		{"author", func(c *Commit) { c.Author = strings.Repeat("a", 256) }},
		{"agent", func(c *Commit) { c.Agent = "\xff" }},
		{"task", func(c *Commit) { c.Task = "\x7f" }},
		{"time", func(c *Commit) { c.Time = graph.MaxTime + 1 }},
		{"message", func(c *Commit) { c.Message.Text = strings.Repeat("a", MaxMessage+1) }},
		{"change", func(c *Commit) { c.Change = graph.ID{} }},
		{"signature", func(c *Commit) { c.Signature = make([]byte, MaxSignature+1) }},
		{"time", func(c *Commit) { c.Extra = []ipld.Entry{{Key: "time"}} }},
		{"", func(c *Commit) {
			c.Extra = []ipld.Entry{{Key: "x", Value: ipld.BytesValue(make([]byte, ipld.MaxBlock))}}
		}},
	} {
		c := goldenCommit()
		e.commit(c)
		expectField(t, e.field, c.Validate())
	}
	for field, break_ := range map[string]func(*Operation){
		"seq":     func(o *Operation) { o.Seq = 0 },
		"parent":  func(o *Operation) { o.Parent = ipld.CID{} },
		"skip":    func(o *Operation) { o.Seq = 13 },
		"view":    func(o *Operation) { o.View = ipld.CID{} },
		"actor":   func(o *Operation) { o.Actor = "" },
		"time":    func(o *Operation) { o.Time = graph.MinTime - 1 },
		"command": func(o *Operation) { o.Command = nil },
		"undoes":  func(o *Operation) { o.Undoes = ipld.Sum(ipld.Raw, nil) },
		"redoes":  func(o *Operation) { o.Undoes, o.Redoes = link("u"), link("r") },
		"horizon": func(o *Operation) { o.Horizon = o.Seq + 1 },
	} {
		o := goldenOperation()
		break_(o)
		expectField(t, field, o.Validate())
	}
	for field, break_ := range map[string]func(*Tag){
		"target":  func(g *Tag) { g.Target = ipld.CID{} },
		"name":    func(g *Tag) { g.Name = "a..b" },
		"tagger":  func(g *Tag) { g.Tagger = "" },
		"time":    func(g *Tag) { g.Time = graph.MaxTime + 1 },
		"message": func(g *Tag) { g.Message.Text = strings.Repeat("a", MaxMessage+1) },
	} {
		g := goldenTag()
		break_(g)
		expectField(t, field, g.Validate())
	}
	s := goldenStage()
	s.Branch = "refs/heads/a..b"
	expectField(t, "branch", s.Validate())
}

func expectField(t *testing.T, field string, err error) {
	t.Helper()
	var fe *graph.FieldError
	if !errors.As(err, &fe) || fe.Field != field || !errors.Is(err, graph.ErrInvalid) {
		t.Errorf("error %v, want a FieldError about %q", err, field)
	}
}

// FuzzDecode checks that whatever decodes, encodes to the same bytes.
func FuzzDecode(f *testing.F) {
	for _, block := range goldenBlocks() {
		f.Add(block)
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		for kind, decode := range decoders {
			r, err := decode(block)
			if err != nil {
				if !errors.Is(err, ipld.ErrInvalid) {
					t.Errorf("%s: error does not wrap ipld.ErrInvalid: %v", kind, err)
				}
				continue
			}
			if again := r.Encode(); !bytes.Equal(again, block) {
				t.Errorf("%s: %x encodes to %x", kind, block, again)
			}
			if err := r.Validate(); err != nil {
				t.Errorf("%s: decoded record is invalid: %v", kind, err)
			}
		}
	})
}

// genMessage draws a message inside the record, as in older ones, or one in its own block.
func genMessage(t *rapid.T) Message {
	text := rapid.StringN(0, 20, -1).Draw(t, "message")
	if rapid.Bool().Draw(t, "inline") {
		return Message{Text: text}
	}
	return MessageOf(text)
}

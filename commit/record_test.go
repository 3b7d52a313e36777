package commit

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
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
		must.OK(t, want.Validate(), "generated record is invalid")
		block := want.Encode()
		got, err := decode(block)
		must.OK(t, err)
		must.Equal(t, cmp.Diff(want, got, equalRecords), "", "decoded record differs")
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
				must.Fail(t, err, ipld.ErrInvalid, kind)
				continue
			}
			if again := r.Encode(); !bytes.Equal(again, block) {
				t.Errorf("%s: %x encodes to %x", kind, block, again)
			}
			must.OK(t, r.Validate(), kind, ": decoded record is invalid")
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

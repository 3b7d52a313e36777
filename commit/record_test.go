package commit

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	return &Stage{Base: link("b"), Branch: graph.BranchRef("main"), Graph: link("g"), Vectors: link("v")}
}

func goldenTag() *Tag {
	return &Tag{
		Target: link("c"), Name: "v1/first", Tagger: "Alice", Time: 1_790_000_000_000_000,
		Message: Message{Text: "the first\n"},
	}
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
	must.True(t, errors.As(err, &fe) && fe.Field == field && errors.Is(err, graph.ErrInvalid),
		"error %v, want a FieldError about %q", err, field)
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
			again := r.Encode()
			must.True(t, bytes.Equal(again, block), "%s: %x encodes to %x", kind, block, again)
			must.OK(t, r.Validate(), kind, ": decoded record is invalid")
		}
	})
}

// TestTablesOfFields compares the fields in the package comment with those in the schema of the specification.
func TestTablesOfFields(t *testing.T) {
	schema := must.Get(os.ReadFile("../spec/mnem.ipldsch"))(t)
	doc := must.Get(os.ReadFile("doc.go"))(t)
	for _, name := range []string{
		"Commit", "Operation", "Stage", "Tag", "Redaction", "Conflict", "Merge", "Export",
	} {
		want, have := schemaFields(string(schema), name), docFields(string(doc), strings.ToLower(name))
		must.True(t, len(want) != 0 && slices.Equal(want, have),
			"%s: the comment has %q, the schema %q", name, have, want)
	}
}

// schemaFields returns the fields of a record, sorted, with a question mark if they are optional.
func schemaFields(schema, name string) (fields []string) {
	_, body, _ := strings.Cut(schema, "\ntype "+name+" struct {\n")
	body, _, _ = strings.Cut(body, "\n}")
	for line := range strings.Lines(body) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] == "v" || strings.HasPrefix(f[0], "#") {
			continue
		}
		if f[1] == "optional" {
			f[0] += "?"
		}
		fields = append(fields, f[0])
	}
	slices.Sort(fields)
	return fields
}

var docField = regexp.MustCompile(`^//\t(\w*) +(\w+\??) +(?:type|int|link|bytes|string|list|map)\b`)

// docFields returns the fields in the table of a record, sorted.
func docFields(doc, name string) (fields []string) {
	inside := false
	for line := range strings.Lines(doc) {
		m := docField.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[1] != "" {
			inside = m[1] == name
		}
		if inside && m[2] != "field" {
			fields = append(fields, m[2])
		}
	}
	slices.Sort(fields)
	return fields
}

// ascending are n links in the order of their bytes.
func ascending(n int) []ipld.CID {
	var links []ipld.CID
	for i := range n {
		b := append([]byte{1, 0x71, 0x12, 0x20, byte(i)}, make([]byte, 31)...)
		c, err := ipld.CIDFromBytes(b)
		if err != nil {
			panic(err)
		}
		links = append(links, c)
	}
	return links
}

func goldenExport() *Export {
	return &Export{
		Scope: ScopeRange, Format: ExportFormat, Refs: link("refs"), Head: "refs/heads/main",
		Objects: ascending(2), Since: ascending(1),
	}
}

// FuzzDecodeExport checks that whatever decodes, encodes to the same bytes.
func FuzzDecodeExport(f *testing.F) {
	f.Add(goldenExport().Encode())
	f.Fuzz(func(t *testing.T, block []byte) {
		e, err := DecodeExport(block)
		if err != nil {
			must.Fail(t, err, ipld.ErrInvalid)
			return
		}
		got := e.Encode()
		must.Require(t, bytes.Equal(got, block), "encodes to %x", got)
	})
}

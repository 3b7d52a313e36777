package graph

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

const someID = "b4a9765e-f642-c681-561b-de25662639d2"

func ptr[T any](v T) *T { return &v }

// TestParseChangeRefuses freezes where and why bad lines are refused.
func TestParseChangeRefuses(t *testing.T) {
	cases.Golden(t, filepath.Join("testdata", "refused.jsonl"), func(t testing.TB, c cases.Case) any {
		var line string
		cases.Parse(t, c.Input, &line)
		_, err := ParseChange([]byte(line))
		must.Fail(t, err, ErrInvalid, c.Path())
		return fmt.Sprint(err)
	})
	_, err := ParseChange([]byte(`{"node":{"summary":"` + strings.Repeat("s", MaxText+1) + `"}}`))
	must.Equal(t, fmt.Sprint(err), "node.summary: 262145 bytes, limit 262144")
	for _, bad := range []string{`{`, `x`, "{\"node\":{\"key\":\"\xff\"}}", `{"node":{},"node":{}}`} {
		_, err := ParseChange([]byte(bad))
		must.Fail(t, err, ErrInvalid, bad, ": error")
		must.Fail(t, err, ipld.ErrJSON, bad, ": error")
	}
}

func readAll(r *Reader) (lines []int, err error) {
	for {
		c, err := r.Next()
		if err != nil {
			return lines, err
		}
		lines = append(lines, c.Line)
	}
}

func TestReaderLines(t *testing.T) {
	const node = `{"node":{"type":"T"}}`
	cases := []struct {
		name, text string
		lines      string
		err        string
	}{
		{"empty", "", "[]", "EOF"},
		{"blank", "\n \t\r\n\r\n", "[]", "EOF"},
		{"no last line end", node + "\n" + node, "[1 2]", "EOF"},
		{"CR LF", node + "\r\n\r\n" + node + "\r\n", "[1 3]", "EOF"},
		{"CR at the end", node + "\r", "[1]", "EOF"},
		{"BOM", "\ufeff" + node, "[]", "f.jsonl:1: begins with a byte order mark"},
		{"two on a line", node + node, "[]", "f.jsonl:1: invalid JSON at byte 21: data after the value"},
		{"bad second line", node + "\n\n{\"node\":{\"typ\":1}}\n" + node, "[1]",
			`f.jsonl:3: node: unknown member "typ"`},
	}
	for _, c := range cases {
		// One byte at a time meets every boundary of the buffer.
		for _, in := range []io.Reader{strings.NewReader(c.text), oneByte{strings.NewReader(c.text)}} {
			r := NewReader(in, "f.jsonl")
			lines, err := readAll(r)
			must.Equal(t, fmt.Sprint(lines), c.lines, c.name, ": lines")
			must.Equal(t, err.Error(), c.err, c.name, ": lines")
			_, again := r.Next()
			must.True(t, again == err, "%s: error %v, then %v", c.name, err, again)
		}
	}
}

type oneByte struct{ in io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.in.Read(p[:min(1, len(p))]) }

// endless yields a line that never ends and counts the bytes read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func TestReaderLineLimit(t *testing.T) {
	line := func(length int) string {
		const head, tail = `{"node":{"type":"T","summary":"`, `"}}`
		return head + strings.Repeat(" ", length-len(head)-len(tail)) + tail
	}
	long := "line of more than 4194304 bytes"
	for _, end := range []string{"", "\n", "\r\n", "\r"} {
		_, err := NewReader(strings.NewReader(line(MaxLine)+end), "f").Next()
		must.True(t, err != nil && err.Error() == "f:1: node.summary: 4194270 bytes, limit 262144",
			"longest line with end %q: error %v", end, err)
		text := `{"node":{"type":"T"}}` + "\n" + line(MaxLine+1) + end
		r := NewReader(strings.NewReader(text), "f")
		must.Get(r.Next())(t)
		_, err = r.Next()
		must.True(t, err != nil && err.Error() == "f:2: "+long, "longer line with end %q: error %v", end, err)
	}
	in := &endless{}
	_, err := NewReader(in, "").Next()
	must.True(t, err != nil && err.Error() == "line 1: "+long, "endless line: error %v", err)
	must.True(t, in.read <= MaxLine+2, "%d bytes read of a line of at most %d", in.read, MaxLine)
	_, err = ParseChange(make([]byte, MaxLine+1))
	must.True(t, err != nil && err.Error() == long, "ParseChange of a longer line: error %v", err)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestReaderReadErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, want := range []error{broken, io.ErrNoProgress, io.ErrUnexpectedEOF} {
		in := failing{want}
		if want == io.ErrNoProgress {
			in.err = nil
		}
		_, err := NewReader(in, "f").Next()
		must.True(t, errors.Is(err, want) && !errors.Is(err, ErrInvalid),
			"error %v, want %v, which is not ErrInvalid", err, want)
	}
}

// TestValidateChange holds changes made by hand to the rules of lines.
func TestValidateChange(t *testing.T) {
	content := &NodeChange{Type: "T"}
	must.OK(t, content.SetContent(strings.Repeat("x", MaxInline+1), ""))
	good := []Change{
		{Node: content},
		{Node: &NodeChange{Type: "T", Props: []ipld.Entry{{Key: "bb"}, {Key: "a"}}}},
		{Edge: &EdgeChange{ID: ID{1}}},
	}
	for i, c := range good {
		must.OK(t, c.Validate(), "good change ", i)
	}
	stolen := *content
	stolen.Chunks = nil
	bad := map[string]Change{
		"":                    {},
		"node.props":          {Node: &NodeChange{Props: []ipld.Entry{{Key: "a"}, {Key: "a"}}}},
		"node.summary":        {Node: &NodeChange{Summary: ptr("\xff")}},
		"node.content.chunks": {Node: &stolen},
		"node.content.size":   {Node: &NodeChange{Content: &Content{Text: "x"}}},
		"node.created":        {Node: &NodeChange{Created: At(MaxTime + 1)}},
		"edge.weight":         {Edge: &EdgeChange{ID: ID{1}, Weight: MaxWeight + 1}},
		"edge.dst":            {Edge: &EdgeChange{ID: ID{1}, Dst: Ref{Key: "a", ID: ID{1}}}},
		"embedding.vector": {Embedding: &EmbeddingChange{
			Node: Ref{Key: "a"}, Model: "m", Vector: make([]float64, 1),
		}},
		"mark.reason": {Mark: &MarkChange{
			On: MarkRef{Node: Ref{Key: "a"}}, State: Stale, Reason: strings.Repeat("r", MaxReason+1),
		}},
		"remove.node": {Remove: &Removal{Node: Ref{Key: someID}}},
	}
	for field, c := range bad {
		var fe *FieldError
		err := c.Validate()
		must.True(t, errors.As(err, &fe) && fe.Field == field, "error %v, want one about %q", err, field)
	}
	must.OK(t, good[0].At(nil), "no error becomes")
	err := good[0].At(io.EOF)
	must.True(t, err.Error() == "EOF" && errors.Is(err, io.EOF), "error without a position is %v", err)
}

// TestApplyNodeTooLarge grows a node beyond one block and beyond its number of properties.
func TestApplyNodeTooLarge(t *testing.T) {
	n := &Node{ID: ID{1}, Type: "T"}
	big := ipld.StringValue(strings.Repeat("x", ipld.MaxBlock/2))
	c := &NodeChange{ID: n.ID, Props: []ipld.Entry{{Key: "a", Value: big}}}
	n, _, err := c.Apply(n, 1)
	must.OK(t, err)
	c.Props = []ipld.Entry{{Key: "b", Value: big}}
	_, _, err = c.Apply(n, 1)
	must.Fail(t, err, ErrInvalid)
	c.Props = nil
	for i := range MaxProps {
		c.Props = append(c.Props, ipld.Entry{Key: string(rune(0x4e00 + i))})
	}
	_, _, err = c.Apply(&Node{ID: n.ID, Type: "T"}, 1)
	must.True(t, err == nil, "%d properties: %v", MaxProps, err)
	_, _, err = c.Apply(n, 1)
	must.True(t, errors.Is(err, ErrInvalid), "%d properties: error %v", MaxProps+1, err)
}

// TestApplyKeepsUnknownFields: an old program can edit the nodes of a newer one.
func TestApplyKeepsUnknownFields(t *testing.T) {
	n := goldenNode()
	c := &NodeChange{Key: "alice", Summary: ptr("other")}
	next, changed, err := c.Apply(n, 1)
	must.True(t, err == nil && changed && len(next.Extra) == 1 && n.Summary != "other",
		"changed %t, error %v, unknown fields %v", changed, err, next.Extra)
	c = &NodeChange{Key: "alice", Replace: true}
	next, _, err = c.Apply(n, 1)
	must.True(t, err == nil && next.Extra == nil, "error %v, unknown fields %v after replace", err, next.Extra)
}

// TestApplyTwice checks for random nodes and changes that the second time changes nothing, that
// the first leaves the old node as it was, and that one batch is as good as two.
func TestApplyTwice(t *testing.T) {
	text := rapid.SampledFrom([]*string{nil, ptr(""), ptr("s"), ptr("t")})
	rapid.Check(t, func(t *rapid.T) {
		old := genNode().Draw(t, "node")
		before := string(old.Encode())
		c := &NodeChange{
			ID: old.ID, Summary: text.Draw(t, "summary"), Context: text.Draw(t, "context"),
			Props:   genEntries(1).Draw(t, "props"),
			Replace: rapid.Bool().Draw(t, "replace"),
			Unset: rapid.SliceOf(rapid.SampledFrom([]string{
				"content", "validTo", "sources", "props.a",
			})).Draw(t, "unset"),
		}
		if rapid.Bool().Draw(t, "content") {
			must.OK(t, c.SetContent(rapid.StringN(0, 5, -1).Draw(t, "text"), ""))
		}
		now := genTime().Draw(t, "now")
		next, changed, err := c.Apply(old, now)
		must.OK(t, err)
		must.Equal(t, string(old.Encode()), before, "Apply changed the old node")
		if same := string(next.Encode()) == before; changed && same || !changed && next != old {
			t.Fatalf("changed %t, the same %t", changed, same)
		}
		again, changed, err := c.Apply(next, now+1)
		must.Require(t, err == nil && !changed && again == next,
			"the second time: changed %t, error %v", changed, err)
	})
}

func TestMergeProps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, given := genEntries(0).Draw(t, "old"), genEntries(0).Draw(t, "given")
		want := make(map[string]ipld.Value)
		for _, e := range append(append([]ipld.Entry(nil), old...), given...) {
			want[e.Key] = e.Value
		}
		got := mergeProps(old, rapid.Permutation(given).Draw(t, "shuffled"))
		var m meter
		if err := m.props(got); err != nil || len(got) != len(want) {
			t.Fatalf("%d properties, want %d, error %v", len(got), len(want), err)
		}
		for _, e := range got {
			must.Require(t, e.Value.Equal(want[e.Key]), "property %q is wrong", e.Key)
		}
	})
}

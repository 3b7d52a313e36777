package graph

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

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
			must.Check(t, again == err, "%s: error %v, then %v", c.name, err, again)
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
		must.Check(t, err != nil && err.Error() == "f:1: node.summary: 4194270 bytes, limit 262144",
			"longest line with end %q: error %v", end, err)
		text := `{"node":{"type":"T"}}` + "\n" + line(MaxLine+1) + end
		r := NewReader(strings.NewReader(text), "f")
		must.Get(r.Next())(t)
		if _, err = r.Next(); err == nil || err.Error() != "f:2: "+long {
			t.Errorf("longer line with end %q: error %v", end, err)
		}
	}
	in := &endless{}
	if _, err := NewReader(in, "").Next(); err == nil || err.Error() != "line 1: "+long {
		t.Errorf("endless line: error %v", err)
	}
	must.Check(t, in.read <= MaxLine+2, "%d bytes read of a line of at most %d", in.read, MaxLine)
	if _, err := ParseChange(make([]byte, MaxLine+1)); err == nil || err.Error() != long {
		t.Errorf("ParseChange of a longer line: error %v", err)
	}
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
		must.Check(t, errors.Is(err, want) && !errors.Is(err, ErrInvalid),
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
		must.Check(t, errors.As(err, &fe) && fe.Field == field, "error %v, want one about %q", err, field)
	}
	must.OK(t, good[0].At(nil), "no error becomes")
	if err := good[0].At(io.EOF); err.Error() != "EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("error without a position is %v", err)
	}
}

package perf

import (
	"io"
	"iter"
	"strconv"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// WriteLines writes changes of a Synth as the lines that mnem reads, and returns how many bytes.
func WriteLines(w io.Writer, changes iter.Seq2[graph.Change, error]) (int64, error) {
	var total int64
	var line []byte
	for c, err := range changes {
		if err != nil {
			return total, err
		}
		line = append(appendLine(line[:0], &c), '\n')
		n, err := w.Write(line)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// member appends a member of an object whose value is a string that needs no more than Go's quoting:
// what is made up is ASCII letters, digits, blanks and slashes.
func member(b []byte, name, value string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return strconv.AppendQuote(b, value)
}

func appendLine(b []byte, c *graph.Change) []byte {
	switch {
	case c.Node != nil:
		n := c.Node
		b = append(b, `{"node":{"key":`...)
		b = strconv.AppendQuote(b, n.Key)
		b = member(b, "type", n.Type)
		b = member(b, "summary", *n.Summary)
		b = member(b, "content", n.Content.Text)
		b = member(b, "created", n.Created.String())
		b = append(b, `,"props":`...)
		b = append(ipld.AppendJSON(b, ipld.MapValue(n.Props...)), "}}"...)
	case c.Edge != nil:
		e := c.Edge
		b = append(b, `{"edge":{"type":`...)
		b = strconv.AppendQuote(b, e.Type)
		b = member(b, "src", e.Src.Key)
		b = member(b, "dst", e.Dst.Key)
		if e.Weight != 0 {
			b = append(b, `,"weight":`...)
			b = strconv.AppendFloat(b, float64(e.Weight)/graph.MaxWeight, 'g', -1, 64)
		}
		b = append(b, "}}"...)
	case c.Embedding != nil:
		b = append(b, `{"embedding":{"node":`...)
		b = strconv.AppendQuote(b, c.Embedding.Node.Key)
		b = member(b, "model", c.Embedding.Model)
		b = append(b, `,"vector":`...)
		b = append(appendVector(b, c.Embedding.Vector), "}}"...)
	}
	return b
}

// appendVector appends the form that 'mnem retrieve --vector MODEL=@FILE' reads.
func appendVector(b []byte, v []float64) []byte {
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
	}
	return append(b, ']')
}

package graph

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// BenchmarkReader reads and makes one node a round.
func BenchmarkReader(b *testing.B) {
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, `{"node":{"key":"node/%d","type":"Note","summary":"what node %d says",`+
			`"props":{"n":%d,"who":"alice"},"created":"2026-11-20T09:30:00Z"}}`+"\n", i, i, i)
	}
	b.ReportAllocs()
	b.SetBytes(int64(lines.Len() / 1000))
	r := NewReader(strings.NewReader(lines.String()), "")
	for b.Loop() {
		c, err := r.Next()
		if err == io.EOF {
			r = NewReader(strings.NewReader(lines.String()), "")
			continue
		}
		must.OK(b, err)
		if _, err := c.Node.Make(1); err != nil {
			b.Fatal(err)
		}
	}
}

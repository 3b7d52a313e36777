package mcp

import (
	"io"
	"strings"
	"testing"
)

// TestBounded gives more than is kept, in pieces and as a reader: io.Copy looks for other ways to write than Write.
func TestBounded(t *testing.T) {
	for name, write := range map[string]func(io.Writer, string) error{
		"written": func(w io.Writer, s string) error { _, err := io.WriteString(w, s); return err },
		"copied": func(w io.Writer, s string) error {
			_, err := io.Copy(w, struct{ io.Reader }{strings.NewReader(s)})
			return err
		},
	} {
		b := &bounded{most: 100}
		if err := write(b, strings.Repeat("x", 100)); err != nil || b.over || len(b.Bytes()) != 100 {
			t.Errorf("%s: as much as is kept: %d, %v", name, len(b.Bytes()), err)
		}
		if err := write(b, "x"); err == nil || !b.over || len(b.Bytes()) != 100 {
			t.Errorf("%s: one more: %d, %v", name, len(b.Bytes()), err)
		}
	}
}

package graph

import (
	"io"
	"os"
	"testing"
)

// TestReadDemo reads the demonstration memory: every line of it is a change that can be made.
func TestReadDemo(t *testing.T) {
	f, err := os.Open("../testdata/demo/memory.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := NewReader(f, "memory.jsonl")
	nodes, edges := 0, 0
	for {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.Node != nil:
			_, err = c.Node.Make(1)
			nodes++
		case c.Edge != nil:
			_, err = c.Edge.Make(1)
			edges++
		}
		if err != nil {
			t.Fatal(c.At(err))
		}
	}
	if nodes < 10 || edges < 10 {
		t.Errorf("%d nodes and %d edges", nodes, edges)
	}
}

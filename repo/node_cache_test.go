package repo

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store/mem"
)

// TestNodeCache holds that a question asked again reads no node from the store, and that nothing is kept of nodes
// once some may have been erased.
func TestNodeCache(t *testing.T) {
	ctx := t.Context()
	by := Stamp{Author: "ana", Time: 1, Command: []string{"test"}}
	r, err := New(ctx, mem.New(), by, Options{})
	if err != nil {
		t.Fatal(err)
	}
	changes := ReadChanges(strings.NewReader(`{"node":{"key":"a","type":"T","summary":"harbour lights"}}
{"node":{"key":"b","type":"T","summary":"harbour walls"}}`), "lines")
	if _, err := r.Commit(ctx, changes, CommitOptions{Stamp: by}); err != nil {
		t.Fatal(err)
	}
	ask := func() {
		t.Helper()
		s, err := r.Snapshot(ctx, string(graph.Head))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Retrieve(ctx, retrieve.Request{Text: "harbour"})
		if err != nil || len(answer.Items) != 2 {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	ask()
	if n := r.nodeBlocks.Len(); n != 2 {
		t.Errorf("%d nodes are kept, want 2", n)
	}
	ask()
	if err := r.changeAllIndexed(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if n := r.nodeBlocks.Len(); n != 0 {
		t.Errorf("%d nodes are kept after an erasure", n)
	}
	ask()
}

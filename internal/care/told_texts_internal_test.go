package care_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// TestTextsOfToldAreTheSame: what is left of a text that several nodes take along names the first of them, each time.
func TestTextsOfToldAreTheSame(t *testing.T) {
	ctx := t.Context()
	by := state.Stamp{Author: "a", Time: 1, Command: []string{"x"}}
	r, err := care.New(ctx, mem.New(), by, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range 8 {
		fmt.Fprintf(&text, `{"node":{"key":"n%d","type":"N","summary":"Number %d of the harbour."}}`+"\n", i, i)
	}
	opt := core.CommitOptions{Stamp: by, Message: "x"}
	if _, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(text.String()), "x"), opt); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot(ctx, string(graph.Head))
	if err != nil {
		t.Fatal(err)
	}
	d, err := outline.Open(ctx, s, distill.Default(), outline.DigestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	root, _, err := d.Top(ctx, d.Blocks, graph.ID{})
	if err != nil {
		t.Fatal(err)
	}
	one := outline.DigestText{Source: root.Source, Text: "The harbour, by number.", Model: "m"}
	if _, err := outline.WriteDigests(ctx, r, d.Recipe, []outline.DigestText{one}, opt); err != nil {
		t.Fatal(err)
	}
	var todo []store.Redaction
	var first graph.ID
	for kv, err := range s.State.Nodes.Scan(ctx, nil, nil) {
		if err != nil {
			t.Fatal(err)
		}
		c, err := state.LinkItem(kv.Value)
		if err != nil {
			t.Fatal(err)
		}
		id := graph.ID(kv.Key)
		if first.IsZero() {
			first = id // they ascend
		}
		rec := commit.Redaction{What: commit.ErasedNode, Node: id, Actor: "b", Time: 2, Reason: "of " + id.String()}
		todo = append(todo, store.Redaction{CID: c, Stub: rec.Encode()})
	}
	if len(todo) != 8 {
		t.Fatalf("%d nodes", len(todo))
	}
	for range 20 {
		got, err := care.TextsOfTold(ctx, r, todo, by)
		if err != nil || len(got) != 1 {
			t.Fatalf("%d texts, %v", len(got), err)
		}
		rec, err := commit.DecodeRedaction(got[0].Stub)
		if err != nil || rec.Node != first || rec.Reason != "of "+first.String() {
			t.Fatalf("%+v, %v: not of %s", rec, err, first)
		}
	}
}

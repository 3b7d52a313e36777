package care_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
	"github.com/mnem-project/mnem/store/storetest"
)

type countedFacts struct {
	store.Store
	facts *storetest.Counting
}

func (c countedFacts) Facts() store.Blocks { return c.facts }

// TestTextsOfReadsNodesOnce: purged nodes are looked up once in a graph, however many texts were written of it.
func TestTextsOfReadsNodesOnce(t *testing.T) {
	const nodes, texts = 8, 50
	ctx := t.Context()
	by := state.Stamp{Author: "a", Time: 1, Command: []string{"x"}}
	st := mem.New()
	counted := countedFacts{st, storetest.NewCounting(st.Facts())}
	r, err := care.New(ctx, counted, by, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range nodes {
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
	gets := func(n int) int {
		scan := &care.PurgeScan{
			Nodes: make(map[graph.ID]*care.Versions), Erase: make(map[ipld.CID]care.Erasure),
			Texts: make(map[ipld.CID]*distill.Written),
			P:     &care.Erasing{Ctx: ctx, Repo: r, Held: make(map[ipld.CID]bool)},
		}
		for kv, err := range s.State.Nodes.Scan(ctx, nil, nil) {
			if err != nil {
				t.Fatal(err)
			}
			scan.Nodes[graph.ID(kv.Key)] = new(care.Versions) // whose version here stays: it is read
		}
		for i := range n {
			w := &distill.Written{
				Source: root.Source, Graph: s.Graph(), Recipe: d.Recipe, Text: fmt.Sprint("Text ", i), Model: "m",
			}
			scan.Texts[store.NewBlock(ipld.DagCBOR, w.Encode()).CID] = w
		}
		counted.facts.Reset()
		if err := scan.TextsOf(); err != nil || len(scan.Erase) != 0 || len(scan.Texts) != n {
			t.Fatalf("%d of %d texts go, %v", len(scan.Erase), len(scan.Texts), err)
		}
		return int(counted.facts.Counts().Gets)
	}
	gets(1) // fills the caches of trees
	one, many := gets(1), gets(texts)
	if one < nodes || many != one {
		t.Errorf("%d blocks read for one text, %d for %d", one, many, texts)
	}
}

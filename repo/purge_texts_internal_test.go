package repo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
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
	by := Stamp{Author: "a", Time: 1, Command: []string{"x"}}
	st := mem.New()
	counted := countedFacts{st, storetest.NewCounting(st.Facts())}
	r, err := New(ctx, counted, by, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range nodes {
		fmt.Fprintf(&text, `{"node":{"key":"n%d","type":"N","summary":"Number %d of the harbour."}}`+"\n", i, i)
	}
	opt := CommitOptions{Stamp: by, Message: "x"}
	if _, err := r.Commit(ctx, ReadChanges(strings.NewReader(text.String()), "x"), opt); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot(ctx, string(graph.Head))
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Digests(ctx, distill.Default(), DigestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	root, _, err := d.Top(ctx, d.Blocks, graph.ID{})
	if err != nil {
		t.Fatal(err)
	}
	gets := func(n int) int {
		scan := &purgeScan{
			nodes: make(map[graph.ID]*versions), erase: make(map[ipld.CID]erasure),
			texts: make(map[ipld.CID]*distill.Written),
			p:     &purge{ctx: ctx, repo: r, held: make(map[ipld.CID]bool)},
		}
		for kv, err := range s.state.nodes.Scan(ctx, nil, nil) {
			if err != nil {
				t.Fatal(err)
			}
			scan.nodes[graph.ID(kv.Key)] = new(versions) // whose version here stays: it is read
		}
		for i := range n {
			w := &distill.Written{
				Source: root.Source, Graph: s.Graph(), Recipe: d.Recipe, Text: fmt.Sprint("Text ", i), Model: "m",
			}
			scan.texts[store.NewBlock(ipld.DagCBOR, w.Encode()).CID] = w
		}
		counted.facts.Reset()
		if err := scan.textsOf(); err != nil || len(scan.erase) != 0 || len(scan.texts) != n {
			t.Fatalf("%d of %d texts go, %v", len(scan.erase), len(scan.texts), err)
		}
		return int(counted.facts.Counts().Gets)
	}
	gets(1) // fills the caches of trees
	one, many := gets(1), gets(texts)
	if one < nodes || many != one {
		t.Errorf("%d blocks read for one text, %d for %d", one, many, texts)
	}
}

package care_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

type countedFacts struct {
	store.Store
	facts *storetest.Counting
}

func (c countedFacts) Facts() store.Blocks { return c.facts }

// harbourNodes is how many nodes harbour makes.
const harbourNodes = 8

// harbour commits nodes and returns their snapshot, its digests and the top one of these.
func harbour(t *testing.T, r *core.Repo) (*core.Snapshot, *outline.Digests, *distill.Digest) {
	t.Helper()
	var text strings.Builder
	for i := range harbourNodes {
		fmt.Fprintf(&text, `{"node":{"key":"n%d","type":"N","summary":"Number %d of the harbour."}}`+"\n", i, i)
	}
	repokit.Lines(t, r, text.String())
	s := repokit.Head(t, r)
	d := must.Get(outline.Open(t.Context(), s, distill.Default(), outline.DigestOptions{}))(t)
	root, _, err := d.Top(t.Context(), d.Blocks, graph.ID{})
	must.OK(t, err)
	return s, d, root
}

// TestTextsOfReadsNodesOnce: purged nodes are looked up once in a graph, however many texts were written of it.
func TestTextsOfReadsNodesOnce(t *testing.T) {
	const texts = 50
	ctx := t.Context()
	st := mem.New()
	counted := countedFacts{st, storetest.NewCounting(st.Facts())}
	r := repokit.OverStore(t, counted)
	s, d, root := harbour(t, r)
	gets := func(n int) int {
		scan := &care.PurgeScan{
			Nodes: make(map[graph.ID]*care.Versions), Erase: make(map[ipld.CID]care.Erasure),
			Texts: make(map[ipld.CID]*distill.Written),
			P:     &care.Erasing{Ctx: ctx, Repo: r, Held: make(map[ipld.CID]bool)},
		}
		for kv, err := range s.State.Nodes.Scan(ctx, nil, nil) {
			must.OK(t, err)
			scan.Nodes[graph.ID(kv.Key)] = new(care.Versions) // its version here stays: it is read
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
	must.Check(t, one >= harbourNodes && many == one,
		"%d blocks read for one text, %d for %d", one, many, texts)
}

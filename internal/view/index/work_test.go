package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// meter counts what one update writes.
type meter struct {
	store.Blocks
	blocks, bytes int
}

func (m *meter) Put(ctx context.Context, blocks ...store.Block) error {
	for _, b := range blocks {
		m.blocks++
		m.bytes += len(b.Data)
	}
	return m.Blocks.Put(ctx, blocks...)
}

func one(c Change) func(func(Change, error) bool) {
	return func(yield func(Change, error) bool) { yield(c, nil) }
}

// TestUpdateWork bounds what updates of one document write to an index of 10,000 documents, merges
// included, over 512 of them: half are new documents, half change old ones.
func TestUpdateWork(t *testing.T) {
	effort.Alone(t)
	const (
		base    = 10_000
		updates = 512
		// A document of 20 terms takes about 700 bytes as a segment and 400 in a merged one, which
		// it is written to about log8(512) = 3 times; the manifest takes up to 1.5 KiB.
		meanBytes = 4 << 10
		leastMost = 3 << 10 // bytes of an update without a merge
	)
	ctx := context.Background()
	w := &meter{Blocks: mem.New().Derived()}
	docs := collection{}
	for c := range zipfDocs(base + updates) {
		docs[c.ID] = c.New
	}
	m := must.Get(Update(ctx, w, ipld.CID{}, zipfDocs(base), UpdateOptions{}))(t)
	total, merges := 0, 0
	for i := range updates {
		id := numberedID(base + i)
		c := Change{ID: id, New: docs[id]}
		if i%2 == 1 {
			c = Change{ID: numberedID(i * 7), Old: docs[numberedID(i*7)], New: docs[id]}
		}
		w.blocks, w.bytes = 0, 0
		m = must.Get(Update(ctx, w, m, one(c), UpdateOptions{}))(t)
		total += w.bytes
		if i%8 != 7 {
			must.True(t, w.blocks == 2 && w.bytes <= leastMost,
				"update %d wrote %d blocks of %d bytes", i, w.blocks, w.bytes)
			continue
		}
		merges++
	}
	t.Logf("%d bytes an update, %d merges", total/updates, merges)
	if total/updates > meanBytes {
		t.Errorf("%d bytes an update, want at most %d", total/updates, meanBytes)
	}
	x := must.Get(Open(ctx, w, m, nil))(t)
	if n := len(x.segs); n > 1+3*7 {
		t.Errorf("%d segments", n)
	}
}

// TestQueryWork bounds what opening an index of 10,000 documents and a query read.
func TestQueryWork(t *testing.T) {
	ctx := context.Background()
	blocks := mem.New().Derived()
	m := must.Get(Update(ctx, blocks, ipld.CID{}, zipfDocs(10_000), UpdateOptions{}))(t)
	all := 0
	must.OK(t, Format.Walk(ctx, blocks, m, func(ipld.CID) error { all++; return nil }))
	read := &counter{Getter: blocks, got: map[ipld.CID]int{}}
	must.Get(Open(ctx, read, m, segment.NewCache(64<<20)))(t)
	must.Equal(t, len(read.got), 2, "opening read blocks")
	// A window's lengths, its ids and, for the filter, its columns, for each document at most.
	cases := []struct {
		query string
		k     int
		most  int
	}{
		{"absent", 10, 1},
		{"word40000", 10, 2 + 3*4},
		{"word4000 word30000", 10, 4 + 3*8},
	}
	accept := func(d ranking.Document) (bool, error) { return d.Type() != "Note", nil }
	for _, c := range cases {
		x, err := Open(ctx, read, m, segment.NewCache(64<<20))
		must.OK(t, err)
		read.got = map[ipld.CID]int{}
		res := must.Get(x.Text(ctx, c.query, accept, c.k))(t)
		t.Logf("%q: %d hits, %d of %d blocks", c.query, len(res.Hits), len(read.got), all)
		must.True(t, len(read.got) <= c.most,
			"query %q read %d blocks, want at most %d", c.query, len(read.got), c.most)
		read.got = map[ipld.CID]int{}
		if _, err = x.Text(ctx, c.query, accept, c.k); err != nil || len(read.got) != 0 {
			t.Errorf("again: %d blocks, %v, want none", len(read.got), err)
		}
	}
}

// TestBulkMemory bounds the memory of a bulk build by the size of a spill, not of the build.
func TestBulkMemory(t *testing.T) {
	effort.Alone(t)
	peak := func(n int) uint64 {
		most := uint64(0)
		docs := zipfDocs(n)
		watched := func(yield func(Change, error) bool) {
			i := 0
			for c, err := range docs {
				if i++; i%1000 == 0 {
					runtime.GC()
					var s runtime.MemStats
					runtime.ReadMemStats(&s)
					most = max(most, s.HeapAlloc)
				}
				if !yield(c, err) {
					return
				}
			}
		}
		must.Get(Update(context.Background(), discard{}, ipld.CID{}, watched,
			UpdateOptions{SpillDocs: 1000, Fanout: 1000}))(t)
		return most
	}
	small, big := peak(3000), peak(15_000)
	t.Logf("heap of %d bytes for 3,000 documents, %d for 15,000", small, big)
	must.True(t, big <= small+1<<20, "heap grew from %d to %d bytes", small, big)
}

// discard keeps nothing.
type discard struct{}

func (discard) Put(context.Context, ...store.Block) error { return nil }
func (discard) Get(_ context.Context, c ipld.CID) ([]byte, error) {
	return nil, &store.NotFoundError{CID: c}
}

// TestVerifyNames makes indexes of other graphs and looks whether Verify names what differs.
func TestVerifyNames(t *testing.T) {
	docs := collect(
		node(graph.Node{Summary: "alpha beta", Type: "Note"}),
		node(graph.Node{Summary: "gamma", Context: "delta"}),
	)
	blocks := mem.New().Derived()
	m := build(t, blocks, docs, UpdateOptions{})
	id := graph.NodeID("edge 0")
	cases := map[string]struct {
		change func(n *graph.Node)
		want   []string
	}{
		"nothing": {func(*graph.Node) {}, nil},
		"text": {func(n *graph.Node) { n.Summary = "alpha zeta" },
			[]string{"node %s: postings differ from its text"}},
		"length": {func(n *graph.Node) { n.Summary = "alpha" },
			[]string{
				"node %s: fields have [2 0 0 0 1 0] terms, should have [1 0 0 0 1 0]",
				"node %s: postings differ from its text",
				"statistics are {2 [3 1 0 0 2 0] [2 1 0 0 2 0]}, should be {2 [2 1 0 0 2 0] [2 1 0 0 2 0]}",
			}},
		"property": {func(n *graph.Node) {
			n.Props = []ipld.Entry{{Key: "a", Value: ipld.IntValue(1)}}
		}, []string{"node %s: properties differ"}},
	}
	for name, c := range cases {
		other := *docs[id].Node
		c.change(&other)
		next := collection{id: {Node: &other}, graph.NodeID("edge 1"): docs[graph.NodeID("edge 1")]}
		found := must.Get(verify(context.Background(), blocks, m, documents(next)))(t)
		var want []string
		for _, w := range c.want {
			if w[0] == 'n' {
				w = fmt.Sprintf(w, id)
			}
			want = append(want, w)
		}
		must.Same(t, found, want, name)
	}
	found, err := verify(context.Background(), blocks, m, documents(collection{id: docs[id]}))
	must.OK(t, err, "a node too many")
	must.Equal(t, len(found), 2, "a node too many")
	more := collect(docs[id], docs[graph.NodeID("edge 1")], node(graph.Node{}))
	found, err = verify(context.Background(), blocks, m, documents(more))
	must.True(t, err == nil && len(found) >= 1, "a node too few: %v, %v", found, err)
}

// zipfDocs yields n documents of about 20 words each from a vocabulary of 50,000, ids ascending.
func zipfDocs(n int) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		rng := rand.New(rand.NewPCG(7, 7))
		zipf := rand.NewZipf(rng, 1.1, 3, 50_000)
		for i := range n {
			if !yield(Change{ID: numberedID(i), New: zipfDoc(i, rng, zipf)}, nil) {
				return
			}
		}
	}
}

func numberedID(i int) (id graph.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(i+1)<<20)
	return id
}

func zipfDoc(i int, rng *rand.Rand, zipf *rand.Zipf) *Document {
	var s strings.Builder
	for range 10 + rng.IntN(20) {
		fmt.Fprintf(&s, "word%d ", zipf.Uint64())
	}
	return &Document{Node: &graph.Node{
		ID: numberedID(i), Type: []string{"Person", "Note", "Service"}[i%3], Summary: s.String(),
		Created: graph.Time(1_700_000_000_000_000 + int64(i)*1_000_003%7_919_000_000),
		Props:   []ipld.Entry{{Key: "team", Value: ipld.StringValue(fmt.Sprint("team", i%50))}},
	}}
}

// grown returns an index and its documents after up to five updates. Each adds, replaces and removes some of at most
// space nodes.
func grown(t *testing.T, rng *rand.Rand, space int, doc func(graph.ID) *Document) (collection, *Index) {
	t.Helper()
	ctx, blocks := context.Background(), mem.New().Derived()
	docs, m := collection{}, ipld.CID{}
	for range 1 + rng.IntN(5) {
		next := maps.Clone(docs)
		for range rng.IntN(space) {
			id := randomID(rng, space)
			next[id] = doc(id)
			if rng.IntN(5) == 0 {
				delete(next, id)
			}
		}
		var err error
		m, err = Update(ctx, blocks, m, changes(docs, next), UpdateOptions{})
		must.OK(t, err)
		docs = next
	}
	x := must.Get(Open(ctx, blocks, m, nil))(t)
	return docs, x
}

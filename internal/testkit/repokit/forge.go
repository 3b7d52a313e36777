package repokit

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Forgery is a file made by hand, block by block, so that one thing in it can be wrong while all
// else, hashes included, is right.
type Forgery struct {
	T      testing.TB
	st     *mem.Store
	Blocks map[ipld.CID][]byte // but the manifest's

	// The parts that a test may change before build: the entries of the trees, and the records.
	Nodes, Edges, Out, In, Marks, Vectors map[string][]byte
	Graph                                 func(*graph.Graph)
	Commits                               []func(*commit.Commit) // oldest first
	Refs                                  map[string][]byte
	Manifest                              commit.Export
	After                                 func(f *Forgery) // once all is built, before the manifest
	Tips                                  []ipld.CID       // the commits built, oldest first
	Session, Receipt                      ipld.CID
	Loose                                 []ipld.CID // to be in the file though nothing leads there
	Root                                  ipld.CID
}

// ForgedTime is the time of everything in a Forgery.
const ForgedTime = graph.Time(1_700_000_000_000_000)

// Forge starts a valid file: two nodes, one of them with content in chunks, an edge, a mark, an embedding, two commits
// of these, the second with one more node, a session and a receipt.
func Forge(t testing.TB) *Forgery {
	t.Helper()
	f := &Forgery{
		T: t, st: mem.New(), Blocks: make(map[ipld.CID][]byte),
		Nodes: map[string][]byte{}, Edges: map[string][]byte{}, Out: map[string][]byte{},
		In: map[string][]byte{}, Marks: map[string][]byte{}, Vectors: map[string][]byte{},
		Refs:    map[string][]byte{},
		Commits: []func(*commit.Commit){func(*commit.Commit) {}, func(*commit.Commit) {}},
		Graph:   func(*graph.Graph) {}, After: func(*Forgery) {},
	}
	a, b := f.Node("a", LongText), f.Node("b", "")
	f.Edge(a, b, true, true)
	f.Mark(graph.OnNode, b)
	f.Embed(a, "m", "m")
	f.Manifest = commit.Export{
		Scope: commit.ScopeAll, Format: commit.ExportFormat, Head: "refs/heads/main",
	}
	return f
}

// Put adds a record and returns a link to it.
func (f *Forgery) Put(data []byte) ipld.CID {
	c := ipld.Sum(ipld.DagCBOR, data)
	f.Blocks[c] = data
	return c
}

// LinkTo returns the encoded link that is a tree's value for a record.
func LinkTo(c ipld.CID) []byte { return ipld.AppendLink(nil, c) }

// Node adds a node and its chunks, and returns its id. content may be empty.
func (f *Forgery) Node(key, content string) graph.ID {
	n := &graph.Node{ID: graph.NodeID(key), Key: key, Type: "T", Summary: key, Created: ForgedTime}
	if content != "" {
		c, chunks, err := graph.SplitContent(content, "")
		must.OK(f.T, err)
		n.Content = c
		for _, chunk := range chunks {
			f.Blocks[chunk.CID] = chunk.Data
		}
	}
	f.Nodes[string(n.ID[:])] = LinkTo(f.Put(n.Encode()))
	return n.ID
}

// Edge adds an edge, and its entry in the tree of outgoing edges if out, of incoming ones if in.
func (f *Forgery) Edge(src, dst graph.ID, out, in bool) {
	e := &graph.Edge{
		ID: graph.EdgeID(src, "to", dst, ""), Type: "to", Src: src, Dst: dst,
		Weight: graph.MaxWeight, Created: ForgedTime,
	}
	f.Edges[string(e.ID[:])] = LinkTo(f.Put(e.Encode()))
	if out {
		f.Out[string(adjacency.OutKey(e))] = adjacency.Value(e)
	}
	if in {
		f.In[string(adjacency.InKey(e))] = adjacency.Value(e)
	}
}

// Mark adds a stale mark.
func (f *Forgery) Mark(on graph.Target, id graph.ID) {
	m := &graph.Mark{On: on, ID: id, State: graph.Stale, Actor: "f", Time: ForgedTime}
	f.Marks[string(graph.MarkKey(on, id))] = LinkTo(f.Put(m.Encode()))
}

// Embed adds a model's embedding under the key of another model.
func (f *Forgery) Embed(id graph.ID, model, under string) {
	e := &graph.Embedding{Model: model, DType: graph.Int8, Dims: 2, Data: []byte{127, 3}}
	f.Vectors[string(graph.EmbeddingKey(id, under))] = LinkTo(f.Put(e.Encode()))
}

// Tree builds a tree of its one shape.
func (f *Forgery) Tree(entries map[string][]byte) ipld.CID {
	f.T.Helper()
	m, err := prolly.NewNodes(f.st.Facts(), nil).Build(f.T.Context(),
		func(yield func(prolly.Entry, error) bool) {
			for _, k := range slices.Sorted(maps.Keys(entries)) {
				if !yield(prolly.Entry{Key: []byte(k), Value: entries[k]}, nil) {
					return
				}
			}
		})
	must.OK(f.T, err)
	err = m.Walk(f.T.Context(), func(c ipld.CID, _ int) (bool, error) {
		data, err := f.st.Facts().Get(f.T.Context(), c)
		f.Blocks[c] = data
		return true, err
	})
	must.OK(f.T, err)
	return m.Root()
}

// chunk makes one chunk of the entries, whatever the rules for boundaries say.
func (f *Forgery) chunk(level int64, entries []prolly.Entry, counts []int64) ipld.CID {
	prefix := entries[0].Key
	for _, e := range entries {
		for !bytes.HasPrefix(e.Key, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	list := func(n int, item func(b []byte, i int) []byte) func([]byte) []byte {
		return func(b []byte) []byte {
			b = ipld.AppendList(b, n)
			for i := range n {
				b = item(b, i)
			}
			return b
		}
	}
	return f.Put(ipld.WriteRecord(1024, func(r *ipld.Record) {
		r.Begin("tree", 1, nil)
		r.Field("keys", list(len(entries), func(b []byte, i int) []byte {
			return ipld.AppendBytes(b, entries[i].Key[len(prefix):])
		}), nil)
		r.Int("level", &level)
		if counts != nil {
			r.Field("counts", list(len(counts), func(b []byte, i int) []byte { return ipld.AppendInt(b, counts[i]) }), nil)
		}
		r.Bytes("prefix", &prefix)
		r.Field("values", list(len(entries), func(b []byte, i int) []byte { return append(b, entries[i].Value...) }), nil)
	}))
}

// commit makes the next commit of the trees as they are now.
func (f *Forgery) commit(i int) {
	g := &graph.Graph{
		Nodes: f.Tree(f.Nodes), Edges: f.Tree(f.Edges), Out: f.Tree(f.Out), In: f.Tree(f.In),
		Marks: f.Tree(f.Marks),
		Counts: graph.Counts{
			Nodes: uint64(len(f.Nodes)), Edges: uint64(len(f.Edges)), Marks: uint64(len(f.Marks)),
		},
	}
	f.Graph(g)
	c := &commit.Commit{
		Height: uint64(i + 1), Graph: f.Put(g.Encode()), Author: "f", Time: ForgedTime,
		Change: graph.ID{1},
	}
	if len(f.Vectors) > 0 {
		c.Vectors = f.Tree(f.Vectors)
	}
	if i > 0 {
		c.Parents = []ipld.CID{f.Tips[i-1]}
	}
	f.Commits[i](c)
	f.Tips = append(f.Tips, f.Put(c.Encode()))
}

// File builds everything and returns the bytes: the manifest, then the blocks in CID order.
func (f *Forgery) File() []byte {
	f.T.Helper()
	for i := range f.Commits {
		if i > 0 {
			f.Node("late", "")
		}
		f.commit(i)
	}
	tip := f.Tips[len(f.Tips)-1]
	query := []byte("query")
	f.Blocks[ipld.Sum(ipld.Raw, query)] = query
	f.record(tip, query)
	f.Refs["refs/heads/main"] = LinkTo(tip)
	f.Refs["refs/sessions/s"] = LinkTo(f.Session)
	f.After(f)
	if !f.Manifest.Refs.Defined() {
		f.Manifest.Refs = f.Tree(f.Refs)
	}
	block := f.Manifest.Encode()
	if !f.Root.Defined() {
		f.Root = ipld.Sum(ipld.DagCBOR, block)
	}
	return f.Write(block, f.Root)
}

// record makes a receipt, and a session of two records that ends with it.
func (f *Forgery) record(tip ipld.CID, query []byte) {
	req := retrieve.Request{Text: string(query)}.Resolve()
	req.Pairs = retrieve.PairsOff                         // nothing is found, so there is nothing to pair
	req.Pack, req.PassageTokens = retrieve.PackWhole, nil // nor is a text trimmed
	answer := &retrieve.Answer{Commit: tip, Request: req, Engine: retrieve.CurrentEngine(), Verdict: retrieve.Unknown}
	rec, _ := answer.Receipt()
	f.Receipt = f.Put(rec.Encode())
	first := retrieve.Session{Name: "s", Commit: tip, Actor: "f", Time: ForgedTime}
	next := first
	next.Seq, next.Prev, next.Receipt = 1, f.Put(first.Encode()), f.Receipt
	f.Session = f.Put(next.Encode())
}

// reached returns the blocks of the file but the manifest, in CID order: what any link leads to.
func (f *Forgery) reached(manifest []byte) []ipld.CID {
	seen := make(map[ipld.CID]bool)
	var visit func(c ipld.CID, block []byte)
	visit = func(c ipld.CID, block []byte) {
		err := ipld.Links(c, block, func(to ipld.CID) error {
			if block, ok := f.Blocks[to]; ok && !seen[to] {
				seen[to] = true
				visit(to, block)
			}
			return nil
		})
		must.OK(f.T, err)
	}
	visit(ipld.Sum(ipld.DagCBOR, manifest), manifest)
	for _, c := range f.Loose {
		seen[c] = true
	}
	return slices.SortedFunc(maps.Keys(seen), ipld.CID.Compare)
}

// Write returns a CAR file of the manifest and the blocks it leads to, with any roots.
func (f *Forgery) Write(manifest []byte, roots ...ipld.CID) []byte {
	f.T.Helper()
	var out bytes.Buffer
	w, err := car.NewWriter(&out, roots...)
	must.OK(f.T, err)
	err = w.Put(ipld.Sum(ipld.DagCBOR, manifest), manifest)
	for _, c := range f.reached(manifest) {
		if err == nil {
			err = w.Put(c, f.Blocks[c])
		}
	}
	must.OK(f.T, err)
	must.OK(f.T, w.Flush())
	return out.Bytes()
}

// Sections reads a file's blocks, manifest first.
func Sections(t testing.TB, file []byte) []store.Block {
	t.Helper()
	r := must.Get(car.NewReader(bytes.NewReader(file)))(t)
	var out []store.Block
	for {
		b, err := r.Next()
		if err != nil {
			return out
		}
		out = append(out, store.Block{CID: b.CID, Data: bytes.Clone(b.Data)})
	}
}

// Rewrite makes a file of blocks.
func Rewrite(t testing.TB, root ipld.CID, blocks []store.Block) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(car.NewWriter(&out, root))(t)
	for _, b := range blocks {
		must.OK(t, w.Put(b.CID, b.Data))
	}
	must.OK(t, w.Flush())
	return out.Bytes()
}

// Recut gives a node content of one chunk list over text, which claims a size.
func (f *Forgery) Recut(id graph.ID, text string, size int64) {
	n := &graph.Node{ID: id, Key: "a", Type: "T", Created: ForgedTime}
	n.Content = &graph.Content{Size: size}
	for len(text) > 0 {
		part := text[:min(len(text), ipld.ChunkSize)]
		c := ipld.Sum(ipld.Raw, []byte(part))
		f.Blocks[c] = []byte(part)
		n.Content.Chunks = append(n.Content.Chunks, c)
		text = text[len(part):]
	}
	f.Nodes[string(id[:])] = LinkTo(f.Put(n.Encode()))
}

// Misshape cuts the tree of nodes of a commit, counted from 0, into chunks of so many entries.
func (f *Forgery) Misshape(at, size int) {
	f.Graph = func(g *graph.Graph) {
		if len(f.Tips) != at {
			return
		}
		var leaves, top []prolly.Entry
		for _, k := range slices.Sorted(maps.Keys(f.Nodes)) {
			leaves = append(leaves, prolly.Entry{Key: []byte(k), Value: f.Nodes[k]})
		}
		var counts []int64
		for part := range slices.Chunk(leaves, size) {
			c := f.chunk(0, part, nil)
			top = append(top, prolly.Entry{Key: part[len(part)-1].Key, Value: LinkTo(c)})
			counts = append(counts, int64(len(part)))
		}
		g.Nodes = f.chunk(1, top, counts)
	}
}

// HubLines makes a hub with n edges to leaves.
func HubLines(n int) string {
	var b bytes.Buffer
	b.WriteString(`{"node":{"key":"hub","type":"Hub","summary":"the centre"}}` + "\n")
	for i := range n {
		fmt.Fprintf(&b, `{"node":{"key":"l%d","type":"Leaf","summary":"leaf %d"}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"edge":{"type":"to","src":"hub","dst":"l%d"}}`+"\n", i)
	}
	return b.String()
}

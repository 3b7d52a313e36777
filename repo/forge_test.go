package repo_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/car"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// forgery is a file made by hand, block by block, so that one thing in it can be wrong while all
// else, hashes included, is right.
type forgery struct {
	t      testing.TB
	st     *mem.Store
	blocks map[ipld.CID][]byte // but the manifest's

	// What a test may change before build: the entries of the trees, and the records.
	nodes, edges, out, in, marks, vectors map[string][]byte
	graph                                 func(*graph.Graph)
	commits                               []func(*commit.Commit) // oldest first
	refs                                  map[string][]byte
	manifest                              commit.Export
	after                                 func(f *forgery) // once all is built, before the manifest
	tips                                  []ipld.CID       // the commits built, oldest first
	session, receipt                      ipld.CID
	loose                                 []ipld.CID // to be in the file though nothing leads there
	root                                  ipld.CID
}

const forgedTime = graph.Time(1_700_000_000_000_000)

// forge starts a good file: two nodes, one of them with content in chunks, an edge, a mark, an
// embedding, two commits of them, the second of one node more, a session and a receipt.
func forge(t testing.TB) *forgery {
	t.Helper()
	f := &forgery{
		t: t, st: mem.New(), blocks: make(map[ipld.CID][]byte),
		nodes: map[string][]byte{}, edges: map[string][]byte{}, out: map[string][]byte{},
		in: map[string][]byte{}, marks: map[string][]byte{}, vectors: map[string][]byte{},
		refs:    map[string][]byte{},
		commits: []func(*commit.Commit){func(*commit.Commit) {}, func(*commit.Commit) {}},
		graph:   func(*graph.Graph) {}, after: func(*forgery) {},
	}
	a, b := f.node("a", longText), f.node("b", "")
	f.edge(a, b, true, true)
	f.mark(graph.OnNode, b)
	f.embed(a, "m", "m")
	f.manifest = commit.Export{
		Scope: commit.ScopeAll, Format: commit.ExportFormat, Head: "refs/heads/main",
	}
	return f
}

// put adds a record and returns a link to it.
func (f *forgery) put(data []byte) ipld.CID {
	c := ipld.Sum(ipld.DagCBOR, data)
	f.blocks[c] = data
	return c
}

func linkTo(c ipld.CID) []byte { return ipld.AppendLink(nil, c) }

func (f *forgery) node(key, content string) graph.ID {
	n := &graph.Node{ID: graph.NodeID(key), Key: key, Type: "T", Summary: key, Created: forgedTime}
	if content != "" {
		c, chunks, err := graph.SplitContent(content, "")
		if err != nil {
			f.t.Fatal(err)
		}
		n.Content = c
		for _, chunk := range chunks {
			f.blocks[chunk.CID] = chunk.Data
		}
	}
	f.nodes[string(n.ID[:])] = linkTo(f.put(n.Encode()))
	return n.ID
}

// edge adds an edge, and its entries in the adjacency trees where asked to.
func (f *forgery) edge(src, dst graph.ID, out, in bool) {
	e := &graph.Edge{
		ID: graph.EdgeID(src, "to", dst, ""), Type: "to", Src: src, Dst: dst,
		Weight: graph.MaxWeight, Created: forgedTime,
	}
	f.edges[string(e.ID[:])] = linkTo(f.put(e.Encode()))
	if out {
		f.out[string(adjacency.OutKey(e))] = adjacency.Value(e)
	}
	if in {
		f.in[string(adjacency.InKey(e))] = adjacency.Value(e)
	}
}

func (f *forgery) mark(on graph.Target, id graph.ID) {
	m := &graph.Mark{On: on, ID: id, State: graph.Stale, Actor: "f", Time: forgedTime}
	f.marks[string(graph.MarkKey(on, id))] = linkTo(f.put(m.Encode()))
}

// embed adds an embedding by one model under the key of another.
func (f *forgery) embed(id graph.ID, model, under string) {
	e := &graph.Embedding{Model: model, DType: graph.Int8, Dims: 2, Data: []byte{127, 3}}
	f.vectors[string(graph.EmbeddingKey(id, under))] = linkTo(f.put(e.Encode()))
}

// tree builds a tree of its one shape.
func (f *forgery) tree(entries map[string][]byte) ipld.CID {
	f.t.Helper()
	m, err := prolly.NewNodes(f.st.Facts(), nil).Build(f.t.Context(),
		func(yield func(prolly.Entry, error) bool) {
			for _, k := range slices.Sorted(maps.Keys(entries)) {
				if !yield(prolly.Entry{Key: []byte(k), Value: entries[k]}, nil) {
					return
				}
			}
		})
	if err != nil {
		f.t.Fatal(err)
	}
	err = m.Walk(f.t.Context(), func(c ipld.CID, _ int) (bool, error) {
		data, err := f.st.Facts().Get(f.t.Context(), c)
		f.blocks[c] = data
		return true, err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return m.Root()
}

// chunk makes one chunk by hand, however it is to be cut.
func (f *forgery) chunk(level int64, entries []prolly.Entry, counts []int64) ipld.CID {
	prefix := entries[0].Key
	for _, e := range entries {
		for !bytes.HasPrefix(e.Key, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	w := ipld.NewRecord(nil, nil)
	w.Version(1)
	w.Append("keys", func(b []byte) []byte {
		b = ipld.AppendList(b, len(entries))
		for _, e := range entries {
			b = ipld.AppendBytes(b, e.Key[len(prefix):])
		}
		return b
	})
	w.Kind("tree")
	w.Int("level", level)
	if counts != nil {
		w.Append("counts", func(b []byte) []byte {
			b = ipld.AppendList(b, len(counts))
			for _, n := range counts {
				b = ipld.AppendInt(b, n)
			}
			return b
		})
	}
	w.Bytes("prefix", prefix)
	w.Append("values", func(b []byte) []byte {
		b = ipld.AppendList(b, len(entries))
		for _, e := range entries {
			b = append(b, e.Value...)
		}
		return b
	})
	return f.put(w.Finish())
}

// commit makes the next commit of the trees as they are now.
func (f *forgery) commit(i int) {
	g := &graph.Graph{
		Nodes: f.tree(f.nodes), Edges: f.tree(f.edges), Out: f.tree(f.out), In: f.tree(f.in),
		Marks: f.tree(f.marks),
		Counts: graph.Counts{
			Nodes: uint64(len(f.nodes)), Edges: uint64(len(f.edges)), Marks: uint64(len(f.marks)),
		},
	}
	f.graph(g)
	c := &commit.Commit{
		Height: uint64(i + 1), Graph: f.put(g.Encode()), Author: "f", Time: forgedTime,
		Change: graph.ID{1},
	}
	if len(f.vectors) > 0 {
		c.Vectors = f.tree(f.vectors)
	}
	if i > 0 {
		c.Parents = []ipld.CID{f.tips[i-1]}
	}
	f.commits[i](c)
	f.tips = append(f.tips, f.put(c.Encode()))
}

// file builds everything and returns the bytes: the manifest, then the blocks in CID order.
func (f *forgery) file() []byte {
	f.t.Helper()
	for i := range f.commits {
		if i > 0 {
			f.node("late", "")
		}
		f.commit(i)
	}
	tip := f.tips[len(f.tips)-1]
	query := []byte("query")
	f.blocks[ipld.Sum(ipld.Raw, query)] = query
	f.record(tip, query)
	f.refs["refs/heads/main"] = linkTo(tip)
	f.refs["refs/sessions/s"] = linkTo(f.session)
	f.after(f)
	if !f.manifest.Refs.Defined() {
		f.manifest.Refs = f.tree(f.refs)
	}
	block := f.manifest.Encode()
	if !f.root.Defined() {
		f.root = ipld.Sum(ipld.DagCBOR, block)
	}
	return f.write(block, f.root)
}

// record makes a receipt, and a session of two records that ends with it.
func (f *forgery) record(tip ipld.CID, query []byte) {
	req := retrieve.Request{Text: string(query)}.Resolve()
	req.Pairs = retrieve.PairsOff                         // nothing is found, so nothing follows what it contradicts
	req.Pack, req.PassageTokens = retrieve.PackWhole, nil // nor is a text trimmed
	answer := &retrieve.Answer{Commit: tip, Request: req, Engine: retrieve.CurrentEngine()}
	rec, _ := answer.Receipt()
	f.receipt = f.put(rec.Encode())
	first := retrieve.Session{Name: "s", Commit: tip, Actor: "f", Time: forgedTime}
	next := first
	next.Seq, next.Prev, next.Receipt = 1, f.put(first.Encode()), f.receipt
	f.session = f.put(next.Encode())
}

// reached returns the blocks of the file but the manifest, in CID order: what any link leads to.
func (f *forgery) reached(manifest []byte) []ipld.CID {
	seen := make(map[ipld.CID]bool)
	var visit func(c ipld.CID, block []byte)
	visit = func(c ipld.CID, block []byte) {
		err := ipld.Links(c, block, func(to ipld.CID) error {
			if block, ok := f.blocks[to]; ok && !seen[to] {
				seen[to] = true
				visit(to, block)
			}
			return nil
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	visit(ipld.Sum(ipld.DagCBOR, manifest), manifest)
	for _, c := range f.loose {
		seen[c] = true
	}
	return slices.SortedFunc(maps.Keys(seen), ipld.CID.Compare)
}

func (f *forgery) write(manifest []byte, roots ...ipld.CID) []byte {
	f.t.Helper()
	var out bytes.Buffer
	w, err := car.NewWriter(&out, roots...)
	if err != nil {
		f.t.Fatal(err)
	}
	err = w.Put(ipld.Sum(ipld.DagCBOR, manifest), manifest)
	for _, c := range f.reached(manifest) {
		if err == nil {
			err = w.Put(c, f.blocks[c])
		}
	}
	if err != nil {
		f.t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		f.t.Fatal(err)
	}
	return out.Bytes()
}

// sections reads a file's blocks, manifest first.
func sections(t testing.TB, file []byte) []store.Block {
	t.Helper()
	r, err := car.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var out []store.Block
	for {
		b, err := r.Next()
		if err != nil {
			return out
		}
		out = append(out, store.Block{CID: b.CID, Data: bytes.Clone(b.Data)})
	}
}

// rewrite makes a file of blocks.
func rewrite(t testing.TB, root ipld.CID, blocks []store.Block) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := car.NewWriter(&out, root)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := w.Put(b.CID, b.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

package repo_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/car"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// refuses imports a bad file into a repository that lives and fails unless it is refused as one,
// with reason, and leaves no trace.
func refuses(t *testing.T, name string, file []byte, reason string) {
	t.Helper()
	r, st := openStore(t)
	lines(t, r, `{"node":{"key":"own","type":"T"}}`)
	before := contents(t, st)
	_, err := tryImport(r, file, repo.ImportOptions{Name: "bad"})
	var bad *car.FormatError
	switch {
	case !errors.As(err, &bad) || !errors.Is(err, repo.ErrInvalid) || errors.Is(err, store.ErrCorrupt):
		t.Errorf("%s: %v", name, err)
	case !strings.Contains(err.Error(), reason):
		t.Errorf("%s: %v, want %q in it", name, err, reason)
	}
	if d := cmp.Diff(before, contents(t, st)); d != "" {
		t.Errorf("%s: the store changed: %s", name, d)
	}
}

// TestForgedFileIsGood imports the file that the tests below spoil.
func TestForgedFileIsGood(t *testing.T) {
	f := forge(t)
	file := f.file()
	r, _ := openStore(t)
	res := importInto(t, r, file, repo.ImportOptions{Name: "good", As: "good"})
	if len(res.Refs) != 3 || res.NewBlocks < 20 {
		t.Errorf("imported %+v", res)
	}
	sameAgain(t, r, string(retrieveSession), 1)
}

const retrieveSession = graph.RefName("refs/imported/good/sessions/s")

func TestImportRefusesForgeries(t *testing.T) {
	a, b, ghost := graph.NodeID("a"), graph.NodeID("b"), graph.NodeID("ghost")
	cases := []struct {
		name, reason string
		edit         func(f *forgery)
	}{
		{"dangling edge", "does not exist", func(f *forgery) { f.edge(a, ghost, true, true) }},
		{"edge without out", "edges, 1 outgoing", func(f *forgery) { f.edge(b, a, false, true) }},
		{"edge without in", "1 incoming", func(f *forgery) { f.edge(b, a, true, false) }},
		{"entry without an edge", "outgoing", func(f *forgery) {
			f.out[string(adjacency.Key(a, "to", ghost, graph.ID{9}))] = ipld.AppendInt(nil, 1)
		}},
		{"entries exchanged", "tree: key", func(f *forgery) { f.out, f.in = f.in, f.out }},
		{"weight of another edge", "the edge says", func(f *forgery) {
			for k := range f.out {
				f.out[k] = ipld.AppendInt(nil, 7)
			}
		}},
		{"node under another id", "is kept under", func(f *forgery) {
			f.nodes[string(ghost[:])] = f.nodes[string(a[:])]
		}},
		{"key of another length", "is kept under", func(f *forgery) {
			f.nodes["short"] = f.nodes[string(a[:])]
		}},
		{"edge among the nodes", "as edge and as node", func(f *forgery) {
			for _, link := range f.edges {
				f.nodes[string(ghost[:])] = link
			}
		}},
		{"integer among the nodes", "not a link", func(f *forgery) {
			f.nodes[string(ghost[:])] = ipld.AppendInt(nil, 1)
		}},
		{"link among the entries", "", func(f *forgery) {
			for k := range f.out {
				f.out[k] = f.nodes[string(a[:])]
			}
		}},
		{"mark of nothing", "does not exist", func(f *forgery) { f.mark(graph.OnNode, ghost) }},
		{"mark of no edge", "does not exist", func(f *forgery) { f.mark(graph.OnEdge, a) }},
		{"mark under another key", "is kept under", func(f *forgery) {
			f.marks[string(graph.MarkKey(graph.OnNode, a))] = f.marks[string(graph.MarkKey(graph.OnNode, b))]
		}},
		{"embedding of nothing", "does not exist", func(f *forgery) { f.embed(ghost, "m", "m") }},
		{"embedding by another model", "is kept under", func(f *forgery) { f.embed(b, "m", "other") }},
		{"empty tree of embeddings", "without any", func(f *forgery) {
			f.vectors = nil
			f.commits[0] = func(c *commit.Commit) { c.Vectors = f.tree(nil) }
		}},
		{"counts", "counts", func(f *forgery) {
			f.graph = func(g *graph.Graph) { g.Counts.Nodes++ }
		}},
		{"height", "height 5, want 2", func(f *forgery) {
			f.commits[1] = func(c *commit.Commit) { c.Height = 5 }
		}},
		{"commit as a graph", `want "graph"`, func(f *forgery) {
			f.commits[1] = func(c *commit.Commit) { c.Graph = c.Parents[0] }
		}},
		{"graph as a parent", "as graph and as commit", func(f *forgery) {
			f.commits[1] = func(c *commit.Commit) { c.Parents = []ipld.CID{c.Graph} }
		}},
		{"chunk cut short", "content chunk", func(f *forgery) { f.recut(a, longText[:300_000], 300_001) }},
		{"chunk not UTF-8", "UTF-8", func(f *forgery) {
			f.recut(a, strings.Repeat("\xff", 40_000), 40_000)
		}},
		{"missing parent", "the commit bafy", func(f *forgery) {
			f.commits[1] = func(c *commit.Commit) { c.Parents = []ipld.CID{ipld.Sum(ipld.DagCBOR, nil)} }
		}},
		{"block nothing leads to", "nothing in the file leads", func(f *forgery) {
			f.loose = append(f.loose, f.put(ipld.AppendInt(nil, 1)))
		}},
		{"raw block nothing leads to", "nothing in the file leads", func(f *forgery) {
			x := []byte("x")
			f.loose = append(f.loose, ipld.Sum(ipld.Raw, x))
			f.blocks[f.loose[0]] = x
		}},
		{"nodes of the first commit cut elsewhere", "a chunk ends", func(f *forgery) { f.misshape(0, 1) }},
		{"nodes of the second cut elsewhere", "a chunk ends", func(f *forgery) { f.misshape(1, 2) }},
		{"one of many nodes, and all cut elsewhere", "not canonical", func(f *forgery) {
			for i := range 200 {
				f.node(fmt.Sprint("n", i), "")
			}
			f.misshape(1, 15)
		}},
	}
	for _, c := range cases {
		f := forge(t)
		c.edit(f)
		refuses(t, c.name, f.file(), c.reason)
	}
}

// recut gives a node content of one chunk list over text, which claims a size.
func (f *forgery) recut(id graph.ID, text string, size int64) {
	n := &graph.Node{ID: id, Key: "a", Type: "T", Created: forgedTime}
	n.Content = &graph.Content{Size: size}
	for len(text) > 0 {
		part := text[:min(len(text), ipld.ChunkSize)]
		c := ipld.Sum(ipld.Raw, []byte(part))
		f.blocks[c] = []byte(part)
		n.Content.Chunks = append(n.Content.Chunks, c)
		text = text[len(part):]
	}
	f.nodes[string(id[:])] = linkTo(f.put(n.Encode()))
}

// misshape cuts the tree of nodes of a commit, counted from 0, into chunks of so many entries.
func (f *forgery) misshape(at, size int) {
	f.graph = func(g *graph.Graph) {
		if len(f.tips) != at {
			return
		}
		var leaves, top []prolly.Entry
		for _, k := range slices.Sorted(maps.Keys(f.nodes)) {
			leaves = append(leaves, prolly.Entry{Key: []byte(k), Value: f.nodes[k]})
		}
		var counts []int64
		for part := range slices.Chunk(leaves, size) {
			c := f.chunk(0, part, nil)
			top = append(top, prolly.Entry{Key: part[len(part)-1].Key, Value: linkTo(c)})
			counts = append(counts, int64(len(part)))
		}
		g.Nodes = f.chunk(1, top, counts)
	}
}

func TestImportRefusesManifests(t *testing.T) {
	cases := []struct {
		name, reason string
		edit         func(f *forgery)
	}{
		{"head without a ref", "is not among the refs", func(f *forgery) {
			f.manifest.Head = "refs/heads/other"
		}},
		{"branch to a session", "does not belong", func(f *forgery) {
			f.refs["refs/heads/x"] = linkTo(f.session)
		}},
		{"session to a commit", "does not belong", func(f *forgery) {
			f.refs["refs/sessions/x"] = linkTo(f.tips[0])
		}},
		{"tag to a receipt", "does not belong", func(f *forgery) {
			f.refs["refs/tags/x"] = linkTo(f.receipt)
		}},
		{"stage", "does not belong", func(f *forgery) { f.refs["refs/stage/x"] = linkTo(f.tips[0]) }},
		{"HEAD", "does not belong", func(f *forgery) { f.refs["HEAD"] = linkTo(f.tips[0]) }},
		{"imported", "does not belong", func(f *forgery) {
			f.refs["refs/imported/x/heads/y"] = linkTo(f.tips[0])
		}},
		{"bad name", "contains ..", func(f *forgery) { f.refs["refs/heads/a..b"] = linkTo(f.tips[0]) }},
		{"symbolic ref", "does not belong", func(f *forgery) {
			f.refs["refs/heads/x"] = ipld.AppendString(nil, "refs/heads/main")
		}},
		{"integer ref", "neither a link", func(f *forgery) {
			f.refs["refs/heads/x"] = ipld.AppendInt(nil, 1)
		}},
		{"ref to a node", "as node and as commit, tag", func(f *forgery) {
			id := graph.NodeID("b")
			f.refs["refs/heads/x"] = f.nodes[string(id[:])]
		}},
		{"object is a session", "is a session", func(f *forgery) {
			f.manifest.Objects = []ipld.CID{f.session}
		}},
		{"nothing in it", "neither refs nor objects", func(f *forgery) {
			clear(f.refs)
			clear(f.blocks)
			f.manifest.Head = ""
		}},
		{"refs are a commit", "not a chunk", func(f *forgery) { f.manifest.Refs = f.tips[0] }},
		{"tag of a tag", "kind", func(f *forgery) {
			inner := &commit.Tag{Target: f.tips[0], Name: "x", Tagger: "f", Time: forgedTime}
			outer := &commit.Tag{Target: f.put(inner.Encode()), Name: "y", Tagger: "f"}
			f.refs["refs/tags/y"] = linkTo(f.put(outer.Encode()))
		}},
		{"session skips a record", "follows", func(f *forgery) {
			s := retrieve.Session{
				Name: "s", Seq: 5, Prev: f.session, Commit: f.tips[0], Actor: "f", Time: forgedTime,
			}
			f.refs["refs/sessions/s"] = linkTo(f.put(s.Encode()))
		}},
		{"receipt without its query", "missing", func(f *forgery) {
			delete(f.blocks, ipld.Sum(ipld.Raw, []byte("query")))
		}},
		{"root is another block", "not the root", func(f *forgery) { f.root = f.tips[0] }},
	}
	for _, c := range cases {
		f := forge(t)
		f.after = c.edit
		refuses(t, c.name, f.file(), c.reason)
	}
	f := forge(t)
	file := f.file()
	good := sections(t, file)
	refuses(t, "two roots", f.write(good[0].Data, f.root, f.tips[0]), "2 roots")
	refuses(t, "no manifest", rewrite(t, f.root, good[1:]), "not the root")
	refuses(t, "no block", rewrite(t, f.root, nil), "no blocks")
	refuses(t, "manifest is a commit", rewrite(t, f.tips[0], good[1:]), "")
	refuses(t, "manifest not first", rewrite(t, f.root, append(good[1:2:2], good[0])), "not the root")
	refuses(t, "a block twice", rewrite(t, f.root, append(good[:len(good):len(good)], good[1])), "twice")
	refuses(t, "the manifest twice", rewrite(t, f.root, append(good[:len(good):len(good)], good[0])),
		"twice")
}

// TestImportRefusesWithoutAnyBlock leaves out each block of a file in turn.
func TestImportRefusesWithoutAnyBlock(t *testing.T) {
	f := forge(t)
	good := sections(t, f.file())
	for i := range good[1:] {
		file := rewrite(t, f.root, slices.Delete(slices.Clone(good), i+1, i+2))
		refuses(t, fmt.Sprintf("without block %s", good[i+1].CID), file, "missing")
	}
}

// TestImportRefusesDamage changes each byte of a file in turn, and cuts it after each. A store that
// is the same all along shows that nothing of it comes in.
func TestImportRefusesDamage(t *testing.T) {
	effort.Alone(t)
	from, _ := openStore(t)
	lines(t, from, `{"node":{"key":"a","type":"T"}}
{"edge":{"type":"x","src":"a","dst":"a"}}`)
	file, _ := export(t, from, repo.ExportOptions{All: true})
	r, st := openStore(t)
	before := contents(t, st)
	try := func(what string, at int, data []byte) {
		t.Helper()
		_, err := tryImport(r, data, repo.ImportOptions{})
		if !errors.Is(err, car.ErrFormat) || !errors.Is(err, repo.ErrInvalid) {
			t.Fatalf("%s at %d: %v", what, at, err)
		}
	}
	step := effort.Pick(7, 3, 1)
	for i := range file {
		try("cut", i, file[:i])
		if i%step != 0 {
			continue
		}
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(file)
			bad[i] ^= flip
			try(fmt.Sprintf("flipped %x", flip), i, bad)
		}
	}
	for _, tail := range []string{"\x00", "\n", "x", "\x25", string(file), string(file[:59])} {
		try("trailing bytes", len(file), append(bytes.Clone(file), tail...))
	}
	if d := cmp.Diff(before, contents(t, st)); d != "" {
		t.Errorf("the store changed: %s", d)
	}
	importInto(t, r, file, repo.ImportOptions{})
}

// TestImportTakesAnyOrder imports a file whose blocks come in another order than an export's.
func TestImportTakesAnyOrder(t *testing.T) {
	from, _ := openStore(t)
	fill(t, from)
	file, res := export(t, from, repo.ExportOptions{All: true})
	blocks := sections(t, file)
	slices.Reverse(blocks[1:])
	r, _ := openStore(t)
	importInto(t, r, rewrite(t, res.Root, blocks), repo.ImportOptions{})
	again, _ := export(t, r, repo.ExportOptions{All: true})
	if !bytes.Equal(again, file) {
		t.Error("exported again it is another file")
	}
}

// changing is a file that changes while it is read: after so many reads a byte is another one.
type changing struct {
	data  []byte
	reads int
	at    int
}

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(c.data).ReadAt(p, off)
	if c.reads--; c.reads < 0 && int64(c.at) >= off && int64(c.at) < off+int64(n) {
		p[int64(c.at)-off] ^= 1
	}
	return n, err
}

// TestImportOfAChangingFile changes a byte of the file after each number of reads.
func TestImportOfAChangingFile(t *testing.T) {
	f := forge(t)
	file := f.file()
	refused := 0
	for reads := range 200 {
		r, st := openStore(t)
		before := contents(t, st)
		in := &changing{data: file, reads: reads, at: len(file) - 1}
		opt := repo.ImportOptions{Stamp: by, Name: "n"}
		if _, err := r.Import(t.Context(), in, int64(len(file)), opt); err == nil {
			break
		} else if !errors.Is(err, car.ErrFormat) {
			t.Fatalf("after %d reads: %v", reads, err)
		}
		refused++
		if d := cmp.Diff(before["head"], contents(t, st)["head"]); d != "" {
			t.Fatalf("after %d reads: a ref was set: %s", reads, d)
		}
	}
	if refused < 5 || refused == 200 {
		t.Errorf("%d of 200 refused", refused)
	}
}

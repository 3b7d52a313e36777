package exchange_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// refuses imports a bad file into a repository that lives and fails unless it is refused as one,
// with reason, and leaves no trace.
func refuses(t *testing.T, name string, file []byte, reason string) {
	t.Helper()
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, `{"node":{"key":"own","type":"T"}}`)
	before := contents(t, st)
	_, err := repokit.TryImport(r, file, exchange.ImportOptions{Name: "bad"})
	var bad *car.FormatError
	switch {
	case !errors.As(err, &bad) || !errors.Is(err, state.ErrInvalid) || errors.Is(err, store.ErrCorrupt):
		t.Errorf("%s: %v", name, err)
	case !strings.Contains(err.Error(), reason):
		t.Errorf("%s: %v, want %q in it", name, err, reason)
	}
	must.Same(t, contents(t, st), before, name, ": the store changed")
}

// TestForgedFileIsGood imports the file that the tests below spoil.
func TestForgedFileIsGood(t *testing.T) {
	f := repokit.Forge(t)
	file := f.File()
	r, _ := repokit.OverMem(t)
	res := repokit.ImportInto(t, r, file, exchange.ImportOptions{Name: "good", As: "good"})
	must.True(t, len(res.Refs) == 3 && res.NewBlocks >= 20, "imported %+v", res)
	sameAgain(t, r, string(retrieveSession), 1)
}

const retrieveSession = graph.RefName("refs/imported/good/sessions/s")

func TestImportRefusesForgeries(t *testing.T) {
	a, b, ghost := graph.NodeID("a"), graph.NodeID("b"), graph.NodeID("ghost")
	cases := []struct {
		name, reason string
		edit         func(f *repokit.Forgery)
	}{
		{"dangling edge", "does not exist", func(f *repokit.Forgery) { f.Edge(a, ghost, true, true) }},
		{"edge without out", "edges, 1 outgoing", func(f *repokit.Forgery) { f.Edge(b, a, false, true) }},
		{"edge without in", "1 incoming", func(f *repokit.Forgery) { f.Edge(b, a, true, false) }},
		{"entry without an edge", "outgoing", func(f *repokit.Forgery) {
			f.Out[string(adjacency.Key(a, "to", ghost, graph.ID{9}))] = ipld.AppendInt(nil, 1)
		}},
		{"entries exchanged", "tree: key", func(f *repokit.Forgery) { f.Out, f.In = f.In, f.Out }},
		{"weight of another edge", "the edge says", func(f *repokit.Forgery) {
			for k := range f.Out {
				f.Out[k] = ipld.AppendInt(nil, 7)
			}
		}},
		{"node under another id", "is kept under", func(f *repokit.Forgery) {
			f.Nodes[string(ghost[:])] = f.Nodes[string(a[:])]
		}},
		{"key of another length", "is kept under", func(f *repokit.Forgery) {
			f.Nodes["short"] = f.Nodes[string(a[:])]
		}},
		{"edge among the nodes", "as edge and as node", func(f *repokit.Forgery) {
			for _, link := range f.Edges {
				f.Nodes[string(ghost[:])] = link
			}
		}},
		{"integer among the nodes", "not a link", func(f *repokit.Forgery) {
			f.Nodes[string(ghost[:])] = ipld.AppendInt(nil, 1)
		}},
		{"link among the entries", "", func(f *repokit.Forgery) {
			for k := range f.Out {
				f.Out[k] = f.Nodes[string(a[:])]
			}
		}},
		{"mark of nothing", "does not exist", func(f *repokit.Forgery) { f.Mark(graph.OnNode, ghost) }},
		{"mark of no edge", "does not exist", func(f *repokit.Forgery) { f.Mark(graph.OnEdge, a) }},
		{"mark under another key", "is kept under", func(f *repokit.Forgery) {
			f.Marks[string(graph.MarkKey(graph.OnNode, a))] = f.Marks[string(graph.MarkKey(graph.OnNode, b))]
		}},
		{"embedding of nothing", "does not exist", func(f *repokit.Forgery) { f.Embed(ghost, "m", "m") }},
		{"embedding by another model", "is kept under", func(f *repokit.Forgery) { f.Embed(b, "m", "other") }},
		{"empty tree of embeddings", "without any", func(f *repokit.Forgery) {
			f.Vectors = nil
			f.Commits[0] = func(c *commit.Commit) { c.Vectors = f.Tree(nil) }
		}},
		{"counts", "counts", func(f *repokit.Forgery) { f.Graph = func(g *graph.Graph) { g.Counts.Nodes++ } }},
		{"height", "height 5, want 2", func(f *repokit.Forgery) {
			f.Commits[1] = func(c *commit.Commit) { c.Height = 5 }
		}},
		{"commit as a graph", `want "graph"`, func(f *repokit.Forgery) {
			f.Commits[1] = func(c *commit.Commit) { c.Graph = c.Parents[0] }
		}},
		{"graph as a parent", "as graph and as commit", func(f *repokit.Forgery) {
			f.Commits[1] = func(c *commit.Commit) { c.Parents = []ipld.CID{c.Graph} }
		}},
		{"chunk cut short", "content chunk", func(f *repokit.Forgery) { f.Recut(a, repokit.LongText[:300_000], 300_001) }},
		{"chunk not UTF-8", "UTF-8", func(f *repokit.Forgery) { f.Recut(a, strings.Repeat("\xff", 40_000), 40_000) }},
		{"missing parent", "the commit bafy", func(f *repokit.Forgery) {
			f.Commits[1] = func(c *commit.Commit) { c.Parents = []ipld.CID{ipld.Sum(ipld.DagCBOR, nil)} }
		}},
		{"block nothing leads to", "nothing in the file leads", func(f *repokit.Forgery) {
			f.Loose = append(f.Loose, f.Put(ipld.AppendInt(nil, 1)))
		}},
		{"raw block nothing leads to", "nothing in the file leads", func(f *repokit.Forgery) {
			x := []byte("x")
			f.Loose = append(f.Loose, ipld.Sum(ipld.Raw, x))
			f.Blocks[f.Loose[0]] = x
		}},
		{"nodes of the first commit cut elsewhere", "a chunk ends", func(f *repokit.Forgery) { f.Misshape(0, 1) }},
		{"nodes of the second cut elsewhere", "a chunk ends", func(f *repokit.Forgery) { f.Misshape(1, 2) }},
		{"one of many nodes, and all cut elsewhere", "not canonical", func(f *repokit.Forgery) {
			for i := range 200 {
				f.Node(fmt.Sprint("n", i), "")
			}
			f.Misshape(1, 15)
		}},
	}
	for _, c := range cases {
		f := repokit.Forge(t)
		c.edit(f)
		refuses(t, c.name, f.File(), c.reason)
	}
}

func TestImportRefusesManifests(t *testing.T) {
	cases := []struct {
		name, reason string
		edit         func(f *repokit.Forgery)
	}{
		{"head without a ref", "is not among the refs", func(f *repokit.Forgery) {
			f.Manifest.Head = "refs/heads/other"
		}},
		{"branch to a session", "does not belong", func(f *repokit.Forgery) {
			f.Refs["refs/heads/x"] = repokit.LinkTo(f.Session)
		}},
		{"session to a commit", "does not belong", func(f *repokit.Forgery) {
			f.Refs["refs/sessions/x"] = repokit.LinkTo(f.Tips[0])
		}},
		{"tag to a receipt", "does not belong", func(f *repokit.Forgery) {
			f.Refs["refs/tags/x"] = repokit.LinkTo(f.Receipt)
		}},
		{"stage", "does not belong", func(f *repokit.Forgery) { f.Refs["refs/stage/x"] = repokit.LinkTo(f.Tips[0]) }},
		{"HEAD", "does not belong", func(f *repokit.Forgery) { f.Refs["HEAD"] = repokit.LinkTo(f.Tips[0]) }},
		{"imported", "does not belong", func(f *repokit.Forgery) {
			f.Refs["refs/imported/x/heads/y"] = repokit.LinkTo(f.Tips[0])
		}},
		{"bad name", "contains ..", func(f *repokit.Forgery) { f.Refs["refs/heads/a..b"] = repokit.LinkTo(f.Tips[0]) }},
		{"symbolic ref", "does not belong", func(f *repokit.Forgery) {
			f.Refs["refs/heads/x"] = ipld.AppendString(nil, "refs/heads/main")
		}},
		{"integer ref", "neither a link", func(f *repokit.Forgery) { f.Refs["refs/heads/x"] = ipld.AppendInt(nil, 1) }},
		{"ref to a node", "as node and as commit, tag", func(f *repokit.Forgery) {
			id := graph.NodeID("b")
			f.Refs["refs/heads/x"] = f.Nodes[string(id[:])]
		}},
		{"object is a session", "is a session", func(f *repokit.Forgery) {
			f.Manifest.Objects = []ipld.CID{f.Session}
		}},
		{"nothing in it", "neither refs nor objects", func(f *repokit.Forgery) {
			clear(f.Refs)
			clear(f.Blocks)
			f.Manifest.Head = ""
		}},
		{"refs are a commit", "not a chunk", func(f *repokit.Forgery) { f.Manifest.Refs = f.Tips[0] }},
		{"tag of a tag", "kind", func(f *repokit.Forgery) {
			inner := &commit.Tag{Target: f.Tips[0], Name: "x", Tagger: "f", Time: repokit.ForgedTime}
			outer := &commit.Tag{Target: f.Put(inner.Encode()), Name: "y", Tagger: "f"}
			f.Refs["refs/tags/y"] = repokit.LinkTo(f.Put(outer.Encode()))
		}},
		{"session skips a record", "follows", func(f *repokit.Forgery) {
			s := retrieve.Session{
				Name: "s", Seq: 5, Prev: f.Session, Commit: f.Tips[0], Actor: "f", Time: repokit.ForgedTime,
			}
			f.Refs["refs/sessions/s"] = repokit.LinkTo(f.Put(s.Encode()))
		}},
		{"receipt without its query", "missing", func(f *repokit.Forgery) {
			delete(f.Blocks, ipld.Sum(ipld.Raw, []byte("query")))
		}},
		{"root is another block", "not the root", func(f *repokit.Forgery) { f.Root = f.Tips[0] }},
	}
	for _, c := range cases {
		f := repokit.Forge(t)
		f.After = c.edit
		refuses(t, c.name, f.File(), c.reason)
	}
	f := repokit.Forge(t)
	file := f.File()
	good := repokit.Sections(t, file)
	refuses(t, "two roots", f.Write(good[0].Data, f.Root, f.Tips[0]), "2 roots")
	refuses(t, "no manifest", repokit.Rewrite(t, f.Root, good[1:]), "not the root")
	refuses(t, "no block", repokit.Rewrite(t, f.Root, nil), "no blocks")
	refuses(t, "manifest is a commit", repokit.Rewrite(t, f.Tips[0], good[1:]), "")
	refuses(t, "manifest not first", repokit.Rewrite(t, f.Root, append(good[1:2:2], good[0])), "not the root")
	refuses(t, "a block twice", repokit.Rewrite(t, f.Root, append(good[:len(good):len(good)], good[1])), "twice")
	refuses(t, "the manifest twice", repokit.Rewrite(t, f.Root, append(good[:len(good):len(good)], good[0])),
		"twice")
}

// TestImportRefusesWithoutAnyBlock leaves out each block of a file in turn.
func TestImportRefusesWithoutAnyBlock(t *testing.T) {
	f := repokit.Forge(t)
	good := repokit.Sections(t, f.File())
	for i := range good[1:] {
		file := repokit.Rewrite(t, f.Root, slices.Delete(slices.Clone(good), i+1, i+2))
		refuses(t, fmt.Sprintf("without block %s", good[i+1].CID), file, "missing")
	}
}

// TestImportRefusesDamage changes each byte of a file in turn, and truncates it after each. One store serves all
// attempts, to show that no part of the file is imported.
func TestImportRefusesDamage(t *testing.T) {
	effort.Alone(t)
	from, _ := repokit.OverMem(t)
	repokit.Lines(t, from, `{"node":{"key":"a","type":"T"}}
{"edge":{"type":"x","src":"a","dst":"a"}}`)
	file, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	r, st := repokit.OverMem(t)
	before := contents(t, st)
	try := func(what string, at int, data []byte) {
		t.Helper()
		_, err := repokit.TryImport(r, data, exchange.ImportOptions{})
		must.Require(t, errors.Is(err, car.ErrFormat) && errors.Is(err, state.ErrInvalid),
			"%s at %d: %v", what, at, err)
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
	must.Same(t, contents(t, st), before, "the store changed")
	repokit.ImportInto(t, r, file, exchange.ImportOptions{})
}

// TestImportTakesAnyOrder imports a file whose blocks are in another order than an export's.
func TestImportTakesAnyOrder(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	file, res := repokit.Export(t, from, exchange.ExportOptions{All: true})
	blocks := repokit.Sections(t, file)
	slices.Reverse(blocks[1:])
	r, _ := repokit.OverMem(t)
	repokit.ImportInto(t, r, repokit.Rewrite(t, res.Roots[0], blocks), exchange.ImportOptions{})
	again, _ := repokit.Export(t, r, exchange.ExportOptions{All: true})
	must.Same(t, again, file, "exported again it is another file")
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
	f := repokit.Forge(t)
	file := f.File()
	refused := 0
	for reads := range 200 {
		r, st := repokit.OverMem(t)
		before := contents(t, st)
		in := &changing{data: file, reads: reads, at: len(file) - 1}
		opt := exchange.ImportOptions{Stamp: repokit.By, Name: "n"}
		if _, err := exchange.Import(t.Context(), r, in, int64(len(file)), opt); err == nil {
			break
		} else if !errors.Is(err, car.ErrFormat) {
			t.Fatalf("after %d reads: %v", reads, err)
		}
		refused++
		must.Same(t, contents(t, st)["head"], before["head"], "after ", reads, " reads: a ref was set")
	}
	must.True(t, refused >= 5 && refused != 200, "%d of 200 refused", refused)
}

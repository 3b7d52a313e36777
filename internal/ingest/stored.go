package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Types of nodes and edges.
const (
	TypeCollection = "Collection"
	TypeDocument   = "Document"
	TypeSection    = "Section"
	TypeChunk      = "Chunk"

	PartOf  = "part-of"
	Next    = "next"
	LinksTo = "links-to"
	Imports = "imports"
	Defines = "defines"
)

// Properties of nodes.
const (
	propPath     = "path"
	propTitle    = "title"
	propProject  = "project"
	propFormer   = "formerly" // paths before, the newest first
	propFormat   = "format"
	propAbout    = "about" // its description of its package
	propAliases  = "aliases"
	propLinks    = "links"
	propFields   = "fields" // names of front matter fields
	propColumns  = "columns"
	propRecord   = "record"
	propDigest   = "digest" // of a file with credentials, instead of a hash in its source
	propRedacted = "redacted"
	propGone     = "gone" // whether a document with a mark of its own was kept after its file was removed
)

// goneReason is the reason of the marks on a document that was kept without its file.
const goneReason = "its file is gone"

type edgeKey struct {
	typ      string
	src, dst graph.ID
}

// stored is a document as a memory has it.
type stored struct {
	node    *graph.Node
	path    Path
	sum     *Sum   // nil if the file has credentials
	keyed   []byte // then the sum by the key
	retired bool   // whether it was kept without its file

	loaded   bool
	nodes    map[graph.ID]*graph.Node // its sections and chunks
	hidden   map[graph.ID]bool        // nodes of the document, itself included, that a user hid
	chunks   []*graph.Node            // in their order
	edges    map[edgeKey]bool         // from it and its nodes
	headings map[graph.ID]string      // of chunks: the slugs of their section
}

// Catalogue lists the documents that a memory has of some projects.
type Catalogue struct {
	snap   *core.Snapshot
	byPath map[Path]*stored
	all    []*stored       // by path
	roots  map[string]bool // whether each project has its node
}

// CollectionKey is the key of the node of a project's files.
func CollectionKey(project string) string { return "files:" + project }

// Open reads a snapshot's documents of some projects.
func Open(ctx context.Context, snap *core.Snapshot, projects []string) (*Catalogue, error) {
	c := &Catalogue{snap: snap, byPath: make(map[Path]*stored), roots: make(map[string]bool)}
	for _, project := range projects {
		root := graph.NodeID(CollectionKey(project))
		_, there, err := c.node(ctx, root)
		if err != nil {
			return nil, err
		}
		if c.roots[project] = there; !there {
			continue
		}
		for e, err := range snap.Adjacency().Bucket(ctx, root, adjacency.In, PartOf, nil) {
			if err == nil {
				err = c.add(ctx, e.Other)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(c.all, func(a, b *stored) int { return comparePaths(a.path, b.path) })
	return c, nil
}

func comparePaths(a, b Path) int {
	return cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Name, b.Name))
}

// node reads a node, if it is there and was not erased.
func (c *Catalogue) node(ctx context.Context, id graph.ID) (n *graph.Node, there bool, err error) {
	n, _, err = c.snap.Node(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	return n, err == nil && n.Type != state.RedactedType, err
}

// add takes a document into the catalogue. What somebody else linked to the collection is none.
func (c *Catalogue) add(ctx context.Context, id graph.ID) error {
	n, there, err := c.node(ctx, id)
	if err != nil || !there || n.Type != TypeDocument || len(n.Sources) == 0 {
		return err
	}
	src, err := sources.Parse(n.Sources[0])
	if err != nil || src.Kind != sources.FileSource {
		return nil
	}
	d := &stored{node: n, path: Path{src.Project, src.Path}, sum: src.Hash}
	if v, ok := ipld.FindEntry(n.Props, propDigest); ok && src.Hash == nil {
		d.keyed = []byte(v.Text())
	}
	m, err := c.snap.Mark(ctx, graph.OnNode, id)
	if err != nil {
		return err
	}
	_, gone := ipld.FindEntry(n.Props, propGone)
	d.retired = gone || isGone(m)
	if c.byPath[d.path] == nil { // two that were made on two branches: the other one is left alone
		c.byPath[d.path] = d
		c.all = append(c.all, d)
	}
	return nil
}

func isGone(m *graph.Mark) bool {
	return m != nil && m.State == graph.Retired && m.Reason == goneReason
}

// Same reports whether the memory has a file of that sum under a path.
func (c *Catalogue) Same(p Path, sum Sum, r *Redactor) (bool, error) {
	d := c.byPath[p]
	switch {
	case d == nil || d.retired:
		return false, nil
	case d.sum != nil:
		return *d.sum == sum, nil
	}
	keyed, err := r.Keyed(sum)
	return err == nil && bytes.Equal(keyed, d.keyed), err
}

// Columns returns the meanings of a table's columns at its last reading, nil for none.
func (c *Catalogue) Columns(p Path) *parse.Columns {
	d := c.byPath[p]
	if d == nil {
		return nil
	}
	columns, err := parse.ParseColumns(listProp(d.node, propColumns))
	if err != nil {
		return nil // no table, or somebody changed it
	}
	return columns
}

// load reads the sections and chunks of a document, their edges, and which of them a user hid.
func (c *Catalogue) load(ctx context.Context, d *stored) error {
	if d.loaded {
		return nil
	}
	d.nodes, d.edges = make(map[graph.ID]*graph.Node), make(map[edgeKey]bool)
	d.headings, d.hidden = make(map[graph.ID]string), make(map[graph.ID]bool)
	var chunks []*graph.Node
	for todo := []*graph.Node{d.node}; len(todo) > 0; todo = todo[1:] {
		for e, err := range c.snap.Adjacency().Bucket(ctx, todo[0].ID, adjacency.In, PartOf, nil) {
			if err != nil {
				return err
			}
			n, there, err := c.node(ctx, e.Other)
			if err != nil {
				return err
			}
			if !there || d.nodes[n.ID] != nil || !strings.HasPrefix(n.Key, d.node.Key) {
				continue
			}
			switch n.Type {
			case TypeSection:
				todo = append(todo, n)
			case TypeChunk:
				chunks = append(chunks, n)
				d.headings[n.ID] = strings.TrimPrefix(todo[0].Key, d.node.Key)
			default:
				continue
			}
			d.nodes[n.ID] = n
		}
	}
	for _, id := range append(d.ids(), d.node.ID) {
		m, err := c.snap.Mark(ctx, graph.OnNode, id)
		if err != nil {
			return err
		}
		if m != nil && m.State.Hides() && !isGone(m) {
			d.hidden[id] = true // it stays, so that it is hidden whenever its text returns
		}
		for _, typ := range []string{PartOf, Next, LinksTo, Imports, Defines} {
			for e, err := range c.snap.Adjacency().Bucket(ctx, id, adjacency.Out, typ, nil) {
				if err != nil {
					return err
				}
				d.edges[edgeKey{typ, id, e.Other}] = true
			}
		}
	}
	d.chunks = d.order(chunks)
	d.loaded = true
	return nil
}

// place returns the nearest node above one that stays, at last the document.
func (d *stored) place(id graph.ID, stays func(graph.ID) bool) graph.ID {
	for up := id; up != d.node.ID; {
		next := d.node.ID
		for _, e := range sortedEdges(d.edges) {
			if e.typ == PartOf && e.src == up && (d.nodes[e.dst] != nil) {
				next = e.dst
				break
			}
		}
		if up = next; stays(up) {
			return up
		}
	}
	return d.node.ID
}

// order returns chunks as each follows the one before; what no edge leads to comes by key.
func (d *stored) order(chunks []*graph.Node) []*graph.Node {
	slices.SortFunc(chunks, func(a, b *graph.Node) int { return strings.Compare(a.Key, b.Key) })
	after, follows := make(map[graph.ID]graph.ID), make(map[graph.ID]bool)
	for e := range d.edges {
		if e.typ == Next {
			after[e.src], follows[e.dst] = e.dst, true
		}
	}
	var out []*graph.Node
	seen := make(map[graph.ID]bool)
	for _, heads := range []bool{true, false} {
		for _, n := range chunks {
			if heads && follows[n.ID] {
				continue
			}
			for n != nil && n.Type == TypeChunk && !seen[n.ID] {
				seen[n.ID] = true
				out = append(out, n)
				n = d.nodes[after[n.ID]]
			}
		}
	}
	return out
}

func (d *stored) passages() []passage {
	out := make([]passage, len(d.chunks))
	for i, n := range d.chunks {
		out[i] = passage{d.headings[n.ID], textOf(n)}
	}
	return out
}

func (d *stored) texts() []string {
	out := make([]string, len(d.chunks))
	for i, n := range d.chunks {
		out[i] = textOf(n)
	}
	return out
}

// textOf returns the text of a chunk. The first chunk's summary is the title and not its text.
func textOf(n *graph.Node) string {
	if n.Content != nil {
		return n.Content.Text
	}
	return n.Summary
}

// maxFormer is how many former paths of a document are kept: links to older ones were mended or are given up.
const maxFormer = 4

func (d *stored) former() (out []Path) {
	for _, name := range listProp(d.node, propFormer) {
		out = append(out, Path{d.path.Project, name})
	}
	return out[:min(len(out), maxFormer)]
}

// formerly returns the paths that a document had before, when its file has a path now.
func (d *stored) formerly(now Path) []Path {
	list := d.former()
	if d.path != now {
		list = append([]Path{d.path}, list...)
	}
	list = slices.DeleteFunc(list, func(p Path) bool { return p == now || p.Project != now.Project })
	return list[:min(len(list), maxFormer)]
}

func (d *stored) title() string { return textProp(d.node, propTitle) }

// listProp returns the texts of a list property.
func listProp(n *graph.Node, name string) []string { return memory.Texts(n.Props, name) }

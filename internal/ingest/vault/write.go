package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Result counts the notes, documents and files of an export.
type Result struct {
	Commit    ipld.CID `json:"commit" shape:"null"`
	Notes     int      `json:"notes"`
	Documents int      `json:"documents"`
	Exact     int      `json:"exact"` // documents with the bytes of their files
	Edges     int      `json:"edges"`
	Marks     int      `json:"marks"`
	Written   int      `json:"written"`   // files that are new or changed
	Unchanged int      `json:"unchanged"` // files
	Removed   int      `json:"removed"`   // files
	// Left counts what the files omit, by kind.
	Left map[string]int `json:"left"`
}

// What the files omit.
const (
	LeftForgotten = "forgotten memory"
	LeftErased    = exchange.LeftErased
	LeftEdge      = "edge of what is left out"
	LeftMark      = "mark by what is left out"
	LeftValue     = "value that JSON cannot say"
	LeftVectors   = exchange.LeftVectors
	LeftFields    = exchange.LeftFields
)

// WriteOptions configures Export.
type WriteOptions struct {
	Progress func(what string, done, total int) // nil for none
}

// Export writes a commit to a directory that is empty or that Export wrote before. It rewrites changed files and removes
// those of removed memories. If it would replace a file that no export wrote, or that was changed since, it writes
// nothing and returns an error that wraps ErrForeign.
func Export(ctx context.Context, snap *core.Snapshot, root *os.Root, opt WriteOptions) (*Result, error) {
	out, err := openTarget(root)
	if err != nil {
		return nil, err
	}
	w := &commitWriter{
		ctx: ctx, snap: snap, out: out, progress: opt.Progress, left: make(map[graph.ID]bool), hidden: make(map[string]bool),
		part: make(map[graph.ID]bool), marks: make(map[graph.ID]*graph.Mark), edges: make(map[graph.ID]*graph.Mark),
		paths: make(map[graph.ID]string), updated: make(map[string]string), names: newNamer(),
	}
	w.res = Result{Commit: snap.CID(), Left: make(map[string]int)}
	if w.progress == nil {
		w.progress = func(string, int, int) {}
	}
	for _, step := range []func() error{
		w.readMarks, w.readNodes, w.readDocuments, w.nameAll, w.begin, w.notes, w.documents, w.lines,
	} {
		if err := step(); err != nil {
			return nil, errors.Join(err, out.close())
		}
	}
	if _, _, _, vectors := snap.Sizes(); vectors > 0 {
		w.res.Left[LeftVectors] = int(vectors)
	}
	err = out.end(&Manifest{Format: format, Commit: snap.CID().String(), Updated: w.updated})
	w.res.Written, w.res.Unchanged, w.res.Removed = out.written, out.unchanged, out.removed
	return &w.res, err
}

type commitWriter struct {
	ctx      context.Context
	snap     *core.Snapshot
	out      *target
	res      Result
	progress func(what string, done, total int)

	left   map[graph.ID]bool // nodes that were erased or forgotten
	hidden map[string]bool   // keys of documents that were forgotten, with what is below them
	part   map[graph.ID]bool // nodes of documents
	marks  map[graph.ID]*graph.Mark
	edges  map[graph.ID]*graph.Mark // marks on edges
	order  []graph.ID               // of nodes with notes
	wanted []wanted                 // their names
	docs   []*document
	roots  []string // projects with documents
	cat    *ingest.Catalogue

	names   *namer
	paths   map[graph.ID]string // without their endings; of documents with them
	updated map[string]string
	said    map[string]bool // folded names of the notes in the directory that say what the memory does, nil before they are read
}

type wanted struct{ dir, stem, ending string }

type document struct {
	id   graph.ID
	path ingest.Path
	want wanted
	name string
}

func (w *commitWriter) readMarks() error {
	for _, on := range []graph.Target{graph.OnNode, graph.OnEdge} {
		for m, err := range w.snap.Marks(w.ctx, on) {
			if err != nil {
				return err
			}
			if on == graph.OnNode {
				w.marks[m.ID] = m
			} else {
				w.edges[m.ID] = m
			}
		}
	}
	return nil
}

// readNodes finds which nodes to write, and the wanted names of their notes.
func (w *commitWriter) readNodes() error {
	done := 0
	nodes, _, _, _ := w.snap.Sizes()
	for e, err := range w.snap.Nodes(w.ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		w.progress("memories read:", done, int(nodes))
		done++
		n := e.Node
		m := w.marks[n.ID]
		switch {
		case n.Type == state.RedactedType:
			w.leave(n.ID, LeftErased)
		case m != nil && m.State == graph.Forgotten:
			w.leave(n.ID, LeftForgotten)
			if isPart(n) && n.Type == ingest.TypeDocument {
				w.hidden[n.Key] = true
			}
		case isPart(n):
			w.part[n.ID] = true
			if n.Type == ingest.TypeCollection {
				w.roots = append(w.roots, strings.TrimPrefix(n.Key, ingest.CollectionKey("")))
			}
		default:
			dir, stem := noteName(n)
			w.order, w.wanted = append(w.order, n.ID), append(w.wanted, wanted{dir, stem, ".md"})
		}
	}
	return nil
}

func (w *commitWriter) leave(id graph.ID, kind string) {
	w.left[id] = true
	w.res.Left[kind]++
}

// isPart reports whether a node belongs to an ingested document.
func isPart(n *graph.Node) bool {
	switch n.Type {
	case ingest.TypeDocument, ingest.TypeSection, ingest.TypeChunk:
		return strings.HasPrefix(n.Key, "doc/")
	case ingest.TypeCollection:
		return strings.HasPrefix(n.Key, ingest.CollectionKey(""))
	}
	return false
}

// readDocuments finds the documents, without the forgotten ones.
func (w *commitWriter) readDocuments() (err error) {
	if len(w.hidden) > 0 {
		for e, err := range w.snap.Nodes(w.ctx, graph.ID{}) {
			if err != nil {
				return err
			}
			if w.part[e.Node.ID] && w.hidden[documentOf(e.Node.Key)] {
				delete(w.part, e.Node.ID)
				w.leave(e.Node.ID, LeftForgotten)
			}
		}
	}
	if w.cat, err = ingest.Open(w.ctx, w.snap, w.roots); err != nil {
		return err
	}
	for _, p := range w.cat.Documents() {
		id := graph.NodeID(w.cat.Key(p))
		if w.left[id] {
			continue
		}
		more := ".md"
		if format := parse.FormatOf(p.Name); format.Decls() || format == parse.Markdown || format == parse.Text {
			more = "" // the memory has a part of the file's bytes, not text extracted from them
		}
		dir, stem, ending := documentName(p.Project, p.Name, more)
		w.docs = append(w.docs, &document{id: id, path: p, want: wanted{dir, stem, ending}})
	}
	return nil
}

func documentOf(key string) string {
	rest, ok := strings.CutPrefix(key, "doc/")
	if i := strings.IndexAny(rest, "/#"); ok && i >= 0 {
		return key[:len(key)-len(rest)+i]
	}
	return key
}

func (w *commitWriter) nameAll() error {
	want := func(n wanted) { w.names.want(path.Join(w.names.dir(n.dir), n.stem) + n.ending) }
	for _, d := range w.docs {
		want(d.want)
	}
	for _, n := range w.wanted {
		want(n)
	}
	for _, d := range w.docs {
		d.name = w.names.name(d.want.dir, d.want.stem, d.want.ending, d.id) + d.want.ending
		w.paths[d.id] = strings.TrimSuffix(d.name, ".md")
	}
	for i, id := range w.order {
		n := w.wanted[i]
		w.paths[id] = w.names.name(n.dir, n.stem, n.ending, id)
	}
	w.wanted = nil
	return nil
}

// begin checks for foreign files, and removes those of removed memories.
func (w *commitWriter) begin() error {
	names := make([]string, 0, len(w.paths)+1)
	for _, d := range w.docs {
		names = append(names, d.name)
	}
	for _, id := range w.order {
		names = append(names, w.paths[id]+".md")
	}
	w.out.taken = w.taken
	return w.out.begin(w.ctx, append(names, linesFile))
}

// taken reports whether a note that somebody changed says nothing that the memory does not: it was read since.
func (w *commitWriter) taken(name string) (bool, error) {
	if w.said == nil {
		if err := w.readBack(); err != nil {
			return false, err
		}
	}
	return w.said[fold(name)], nil
}

// readBack reads the directory as an ingest does, to find the notes that would change nothing.
func (w *commitWriter) readBack() error {
	w.said = make(map[string]bool)
	if w.out.was == nil {
		return nil // no ingest reads it
	}
	r := &NoteReader{Root: w.out.root, Stored: w.stored, Progress: w.progress}
	r.Yield = func(c graph.Change) error {
		changed, err := w.changes(&c)
		if changed {
			r.differ[fold(r.at)] = true
		}
		return err
	}
	if err := r.Read(w.ctx); err != nil {
		return err
	}
	for at := range r.notes {
		name := fold(at + ".md")
		w.said[name] = !r.differ[name]
	}
	return nil
}

// stored returns a node and the mark on it, nil for none.
func (w *commitWriter) stored(id graph.ID) (*graph.Node, *graph.Mark, error) {
	n, _, err := w.snap.Node(w.ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, nil
	}
	return n, w.marks[id], err
}

// changes reports whether a change of a reading would change the memory.
func (w *commitWriter) changes(c *graph.Change) (changed bool, err error) {
	switch {
	case c.Node != nil:
		have, _, err := w.stored(c.Node.Target())
		if err != nil || have == nil {
			return true, err
		}
		_, changed, err = c.Node.Apply(have, have.Created)
		return changed || err != nil, nil
	case c.Edge != nil:
		have, _, err := w.snap.Edge(w.ctx, c.Edge.Target())
		if errors.Is(err, store.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		_, changed, err = c.Edge.Apply(have)
		return changed || err != nil, nil
	}
	on, id := c.Mark.On.Target()
	have := w.marks[id]
	if on == graph.OnEdge {
		have = w.edges[id]
	}
	if have == nil {
		return true, nil
	}
	_, changed, err = c.Mark.Apply(have, have.Actor, have.Time)
	return changed || err != nil, nil
}

func (w *commitWriter) notes() error {
	for i, id := range w.order {
		w.progress("notes written:", i, len(w.order))
		n, _, err := w.snap.Node(w.ctx, id)
		if err != nil {
			return err
		}
		note, err := w.note(n)
		if err != nil {
			return err
		}
		data, err := note.file()
		if err != nil {
			w.sayable(note)
			if data, err = note.file(); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
		w.res.Notes++
		if err := w.out.put(w.ctx, w.paths[id]+".md", data); err != nil {
			return err
		}
	}
	return nil
}

// sayable drops values that JSON cannot represent.
func (w *commitWriter) sayable(n *note) {
	drop := func(members []ipld.Entry) []ipld.Entry {
		props, ok := ipld.FindEntry(members, "props")
		if !ok {
			return members
		}
		kept := slices.DeleteFunc(slices.Clone(props.Entries()), func(e ipld.Entry) bool { return !ipld.HasJSON(ipld.MapValue(e)) })
		w.res.Left[LeftValue] += len(props.Entries()) - len(kept)
		return memory.WithEntry(members, "props", ipld.MapValue(kept...))
	}
	n.members = drop(n.members)
	for i := range n.links {
		n.links[i].members = drop(n.links[i].members)
	}
}

func without(members []ipld.Entry, names ...string) []ipld.Entry {
	return slices.DeleteFunc(members, func(e ipld.Entry) bool { return slices.Contains(names, e.Key) })
}

func (w *commitWriter) note(n *graph.Node) (*note, error) {
	out := &note{members: without(exchange.NodeMembers(n), "summary"), summary: n.Summary}
	ipld.SortEntries(out.members)
	w.change(n)
	if n.Updated.Given {
		out.updated = n.Updated
	}
	if n.Content != nil {
		text, err := w.snap.Content(w.ctx, n.Content)
		if err != nil {
			return nil, err
		}
		out.content, out.media = &text, n.Content.Media
	}
	if m := w.marks[n.ID]; m != nil {
		out.mark = w.markOf(m, "node")
	}
	for e, err := range w.snap.Adjacency().Bucket(w.ctx, n.ID, adjacency.Out, "", nil) {
		if err == nil {
			err = w.link(out, e)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// change counts what a node's note omits.
func (w *commitWriter) change(n *graph.Node) {
	if len(n.Extra) > 0 {
		w.res.Left[LeftFields]++
	}
}

// markOf returns the members of a mark without its target. A memory that it names becomes a link to its note.
func (w *commitWriter) markOf(m *graph.Mark, on string) []ipld.Entry {
	w.res.Marks++
	out := without(exchange.MarkMembers(m), on)
	for i := range out {
		if out[i].Key == "by" {
			if to := w.paths[m.By]; to != "" && !w.part[m.By] {
				out[i].Value = ipld.StringValue("[[" + to + "]]")
			}
		}
	}
	if w.left[m.By] {
		w.res.Left[LeftMark]++
		out = without(out, "by")
	}
	ipld.SortEntries(out)
	return out
}

func (w *commitWriter) link(n *note, at adjacency.Entry) error {
	m := w.edges[at.Edge]
	if w.left[at.Other] || m != nil && m.State == graph.Forgotten {
		w.res.Left[LeftEdge]++
		return nil
	}
	e, _, err := w.snap.Edge(w.ctx, at.Edge)
	if err != nil {
		return err
	}
	if len(e.Extra) > 0 {
		w.res.Left[LeftFields]++
	}
	l := link{typ: e.Type, target: w.paths[e.Dst], members: without(exchange.EdgeMembers(e), "type", "src", "dst")}
	if e.ID == graph.EdgeID(e.Src, e.Type, e.Dst, e.Key) {
		l.members = without(l.members, "id")
	}
	if w.part[e.Dst] {
		key, at, err := w.partOf(e.Dst)
		if err != nil {
			return err
		}
		l.target = at
		l.members = append(l.members, ipld.Entry{Key: "to", Value: ipld.StringValue(key)})
	}
	l.title = path.Base(l.target)
	if m != nil {
		l.members = append(l.members, ipld.Entry{Key: "mark", Value: ipld.MapValue(w.markOf(m, "edge")...)})
	}
	ipld.SortEntries(l.members)
	w.res.Edges++
	n.links = append(n.links, l)
	return nil
}

// partOf returns the key of a node of a document, and the path of the document.
func (w *commitWriter) partOf(id graph.ID) (key, at string, err error) {
	n, _, err := w.snap.Node(w.ctx, id)
	if err != nil {
		return "", "", err
	}
	if at = w.paths[graph.NodeID(documentOf(n.Key))]; at == "" {
		at = documentsDir
	}
	return n.Key, at, nil
}

func (w *commitWriter) documents() error {
	for i, d := range w.docs {
		w.progress("documents written:", i, len(w.docs))
		r, err := w.cat.Rebuild(w.ctx, d.path, func(id graph.ID) bool { return w.left[id] })
		if err != nil {
			return err
		}
		w.res.Documents++
		if r.Exact {
			w.res.Exact++
		}
		if err := w.out.put(w.ctx, d.name, []byte(r.Text)); err != nil {
			return err
		}
	}
	return nil
}

// lines writes what no note has: the nodes of documents, their outgoing edges, and the marks on both.
func (w *commitWriter) lines() error {
	var b bytes.Buffer
	for e, err := range w.snap.Nodes(w.ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		if n := e.Node; w.part[n.ID] {
			if err := w.line(&b, n); err != nil {
				return err
			}
		}
	}
	for e, err := range w.snap.Edges(w.ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		m := w.edges[e.Edge.ID]
		switch {
		case w.left[e.Edge.Src] || w.part[e.Edge.Src] && (w.left[e.Edge.Dst] || m != nil && m.State == graph.Forgotten):
			w.res.Left[LeftEdge]++
		case w.part[e.Edge.Src]:
			w.res.Edges++
			b.Write(exchange.Line("edge", exchange.EdgeMembers(e.Edge)))
			if m != nil {
				b.Write(w.markLine(m))
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(w.part), graph.ID.Compare) {
		if m := w.marks[id]; m != nil {
			b.Write(w.markLine(m))
		}
	}
	return w.out.put(w.ctx, linesFile, b.Bytes())
}

func (w *commitWriter) markLine(m *graph.Mark) []byte {
	w.res.Marks++
	members := exchange.MarkMembers(m)
	if w.left[m.By] {
		w.res.Left[LeftMark]++
		members = without(members, "by")
	}
	return exchange.Line("mark", members)
}

func (w *commitWriter) line(b *bytes.Buffer, n *graph.Node) error {
	w.change(n)
	members := exchange.NodeMembers(n)
	if n.Updated.Given {
		w.updated[n.ID.String()] = n.Updated.Time.String()
	}
	if n.Content != nil {
		text, err := w.snap.Content(w.ctx, n.Content)
		if err != nil {
			return err
		}
		content := []ipld.Entry{{Key: "text", Value: ipld.StringValue(text)}}
		if n.Content.Media != "" {
			content = append(content, ipld.Entry{Key: "media", Value: ipld.StringValue(n.Content.Media)})
		}
		ipld.SortEntries(content)
		members = append(members, ipld.Entry{Key: "content", Value: ipld.MapValue(content...)})
	}
	line := exchange.Line("node", members)
	if len(line) > graph.MaxLine {
		return errors.New("a part of a document exceeds the length of a line")
	}
	b.Write(line)
	return nil
}

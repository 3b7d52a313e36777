package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// maxNote is the longest note that is read: one with the longest content, each of its bytes escaped with another one.
const maxNote = 2*graph.MaxContent + 1<<20

// What Read leaves out.
const (
	SkippedForeign  = "note without key or id" // written by hand: it is no memory yet
	SkippedDocument = "changed document"
	SkippedErased   = "memory that was erased here"
	SkippedMark     = "mark on what was forgotten here"
)

// NoteReader reads a directory that Export wrote, as changes.
type NoteReader struct {
	Root *os.Root
	// Stored returns the node with an id, nil if there is none, and its mark.
	Stored   func(graph.ID) (*graph.Node, *graph.Mark, error)
	Yield    func(graph.Change) error
	Progress func(what string, done, total int)
	Taken    ingest.Taken

	manifest *Manifest
	notes    map[string]graph.Ref   // by path without extension
	bases    map[string][]graph.Ref // by the last element of that path
	skipped  map[graph.ID]bool      // nodes that are not made
	late     []late

	at     string          // the file that is read
	differ map[string]bool // folded names of files that say what the memory does not, or what was not read
}

// late are the edges and the mark of a note, which come after all nodes.
type late struct {
	file  string
	ref   graph.Ref
	links []link
	mark  []ipld.Entry
}

// Read reads the directory, nodes first. An error of Yield ends it and is returned.
func (r *NoteReader) Read(ctx context.Context) error {
	var err error
	if r.manifest, err = ReadManifest(r.Root); err != nil {
		return err
	}
	if r.manifest == nil {
		return fmt.Errorf("%s: %w", r.Root.Name(), ErrForeign)
	}
	r.notes, r.bases = make(map[string]graph.Ref), make(map[string][]graph.Ref)
	r.skipped, r.differ = make(map[graph.ID]bool), make(map[string]bool)
	if err := r.lines(ctx, func(c *graph.Change) bool { return c.Node != nil }); err != nil {
		return err
	}
	done := 0
	err = fs.WalkDir(regular.FS(r.Root), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			return err
		case name != "." && d.Name()[0] == '.' && d.IsDir():
			return fs.SkipDir
		case !d.Type().IsRegular() || d.Name()[0] == '.':
			return nil
		}
		r.Progress("files:", done, len(r.manifest.Files))
		done++
		return r.file(name)
	})
	if err != nil {
		return err
	}
	if err := r.lines(ctx, func(c *graph.Change) bool { return c.Node == nil }); err != nil {
		return err
	}
	for i := range r.late {
		if err := errors.Join(ctx.Err(), r.after(&r.late[i])); err != nil {
			return err
		}
	}
	return nil
}

// leave counts what is not read. at is its place if it could not be.
func (r *NoteReader) leave(kind, at string) {
	r.Taken.Other(kind, at)
	if at != "" || kind == SkippedErased {
		r.differ[fold(r.at)] = true
	}
}

// damaged counts what cannot be read, at its place.
func (r *NoteReader) damaged(at string, err error) error {
	r.leave(chats.Damaged, fmt.Sprintf("%s: %v", at, err))
	return nil
}

// file reads a note. A document is compared with what was written: its text is read by an ingest of the file it is of.
func (r *NoteReader) file(name string) error {
	r.at = name
	wrote, listed := r.manifest.Files[name]
	if listed && (strings.HasPrefix(name, documentsDir+"/") || path.Ext(name) != ".md") {
		sum, err := sumOf(r.Root, name)
		if err != nil {
			return r.damaged(name, err)
		}
		if sum != wrote {
			r.leave(SkippedDocument, name) // the memory keeps the exported text
		}
		return nil
	}
	if path.Ext(name) != ".md" {
		r.leave(SkippedForeign, "")
		return nil
	}
	data, err := readFile(r.Root, name, maxNote)
	if err != nil {
		return r.damaged(name, err)
	}
	n, problems, err := decode(data)
	switch {
	case errors.Is(err, errNoFront) && !listed:
		r.leave(SkippedForeign, "")
		return nil
	case err != nil:
		return r.damaged(name, err)
	}
	for _, p := range problems {
		r.leave("line that is no link", name+": "+p)
	}
	return r.note(name, n)
}

func (r *NoteReader) note(name string, n *note) error {
	ref, change, err := n.change()
	if err != nil {
		return r.damaged(name, err)
	}
	if ref.IsZero() {
		r.leave(SkippedForeign, "")
		return nil
	}
	at := strings.TrimSuffix(name, ".md")
	r.notes[at] = ref
	r.bases[path.Base(at)] = append(r.bases[path.Base(at)], ref)
	made, err := r.node(change, n.updated)
	if err != nil || !made {
		return err
	}
	r.late = append(r.late, late{name, ref, n.links, n.mark})
	return nil
}

// change returns the change that makes the node of a note.
func (n *note) change() (graph.Ref, *graph.Change, error) {
	members := n.members
	if n.summary != "" {
		members = append(members[:len(members):len(members)], ipld.Entry{Key: "summary", Value: ipld.StringValue(n.summary)})
	}
	c, err := lineOf("node", members)
	if err != nil {
		return graph.Ref{}, nil, err
	}
	if n.content != nil {
		if err := c.Node.SetContent(*n.content, n.media); err != nil {
			return graph.Ref{}, nil, err
		}
	}
	return graph.Ref{Key: c.Node.Key, ID: c.Node.ID}, c, nil
}

func lineOf(kind string, members []ipld.Entry) (*graph.Change, error) {
	members = slices.Clone(members)
	ipld.SortEntries(members)
	text := ipld.AppendJSON(nil, ipld.MapValue(ipld.Entry{Key: kind, Value: ipld.MapValue(members...)}))
	c, err := graph.Line{Text: text}.Change()
	if err != nil {
		return nil, err
	}
	return &c, c.Validate()
}

// placeholder is a temporary property: a node is created with it and then changed, so that both times of the note are
// kept.
const placeholder = "mnem.export"

// node creates or changes a node, and reports whether it then exists.
func (r *NoteReader) node(c *graph.Change, updated graph.OptTime) (made bool, err error) {
	id := c.Node.Target()
	have, _, err := r.Stored(id)
	if err != nil {
		return false, err
	}
	if have != nil && have.Type == state.RedactedType {
		r.leave(SkippedErased, "")
		r.skipped[id] = true
		return false, nil
	}
	r.Taken.Memories++
	switch {
	case have != nil:
		c.Node.Replace = len(have.Extra) == 0 // else what a newer version knows would go
		c.Node.Created = graph.OptTime{}
	case updated.Given && c.Node.Created.Given && updated.Time != c.Node.Created.Time:
		before := graph.NodeChange{Key: c.Node.Key, ID: c.Node.ID, Type: c.Node.Type, Created: c.Node.Created,
			Props: []ipld.Entry{{Key: placeholder, Value: ipld.BoolValue(true)}}}
		if err := r.Yield(graph.Change{Node: &before}); err != nil {
			return false, err
		}
		c.Node.Replace, c.Time = true, updated
	}
	return true, r.Yield(*c)
}

// lines reads the change lines of documents that are wanted.
func (r *NoteReader) lines(ctx context.Context, wants func(*graph.Change) bool) error {
	r.at = linesFile
	f, err := regular.OpenIn(r.Root, linesFile)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	in := graph.NewReader(f, linesFile)
	for {
		c, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			r.leave(chats.Damaged, err.Error()+" and what follows")
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !wants(&c):
			continue
		case c.Node != nil:
			updated := graph.OptTime{}
			if text := r.manifest.Updated[c.Node.Target().String()]; text != "" {
				at, err := graph.ParseTime(text)
				if err != nil {
					return fmt.Errorf("%s: %w", manifestFile, err)
				}
				updated = graph.At(at)
			}
			_, err = r.node(&c, updated)
		case c.Edge != nil:
			if r.skipped[c.Edge.Src.Target()] || r.skipped[c.Edge.Dst.Target()] {
				r.leave(LeftEdge, "")
				continue
			}
			r.Taken.Relations++
			err = r.Yield(c)
		case c.Mark != nil:
			err = r.mark(&c)
		}
		if err != nil {
			return err
		}
	}
}

// mark creates a mark, unless its target was hidden since.
func (r *NoteReader) mark(c *graph.Change) error {
	on, id := c.Mark.On.Target()
	if on == graph.OnNode {
		have, mark, err := r.Stored(id)
		if err != nil {
			return err
		}
		if r.skipped[id] || have != nil && mark != nil && mark.State == graph.Forgotten {
			r.leave(SkippedMark, "")
			return nil
		}
	}
	return r.Yield(*c)
}

// after creates the edges and the mark of a note.
func (r *NoteReader) after(l *late) error {
	r.at = l.file
	for i := range l.links {
		if err := r.edge(l, &l.links[i]); err != nil {
			return err
		}
	}
	if len(l.mark) == 0 {
		return nil
	}
	return r.markOn(l, l.mark, ipld.Entry{Key: "node", Value: ipld.StringValue(l.ref.Target().String())})
}

func (r *NoteReader) edge(l *late, k *link) error {
	var members, mark []ipld.Entry
	to := graph.Ref{}
	for _, m := range k.members {
		switch m.Key {
		case "to":
			if ref, err := graph.ParseRef(textOf(m.Value)); err == nil {
				to = ref
			}
		case "mark":
			mark = m.Value.Entries()
		default:
			members = append(members, m)
		}
	}
	if to.IsZero() {
		to = r.find(k.target)
	}
	place := fmt.Sprintf("%s: line %d", l.file, k.line)
	if to.IsZero() {
		r.leave("link to no memory", place)
		return nil
	}
	if r.skipped[to.Target()] {
		r.leave(LeftEdge, "")
		return nil
	}
	members = append(members, ipld.Entry{Key: "type", Value: ipld.StringValue(k.typ)},
		ipld.Entry{Key: "src", Value: ipld.StringValue(l.ref.Target().String())},
		ipld.Entry{Key: "dst", Value: ipld.StringValue(to.Target().String())})
	c, err := lineOf("edge", members)
	if err != nil {
		return r.damaged(place, err)
	}
	r.Taken.Relations++
	if err := r.Yield(*c); err != nil || len(mark) == 0 {
		return err
	}
	edge := ipld.MapValue(ipld.Entry{Key: "id", Value: ipld.StringValue(c.Edge.Target().String())})
	return r.markOn(l, mark, ipld.Entry{Key: "edge", Value: edge})
}

func (r *NoteReader) markOn(l *late, members []ipld.Entry, on ipld.Entry) error {
	members = append(members[:len(members):len(members)], on)
	for i, m := range members {
		target, is := strings.CutPrefix(textOf(m.Value), "[[")
		if m.Key != "by" || !is {
			continue
		}
		target, _, _ = strings.Cut(strings.TrimSuffix(target, "]]"), "|")
		to := r.find(target)
		if to.IsZero() {
			r.leave("link to no memory", l.file+": by")
			return nil
		}
		members[i].Value = ipld.StringValue(to.Target().String())
	}
	c, err := lineOf("mark", members)
	if err != nil {
		return r.damaged(l.file, err)
	}
	return r.mark(c)
}

// find returns the memory that a link leads to: of the note at that path, or the only one of that name.
func (r *NoteReader) find(target string) graph.Ref {
	if ref, ok := r.notes[target]; ok {
		return ref
	}
	if list := r.bases[path.Base(target)]; len(list) == 1 {
		return list[0]
	}
	return graph.Ref{}
}

package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
)

// placeMark separates the title of a document from its headings.
const placeMark = " › "

// maxDocLinks is how many different links of one document are kept for when their targets come or go, and
// maxLinkBytes how long they may be together: a node is one block.
const (
	maxDocLinks  = 2000
	maxLinkBytes = 256 << 10
)

type writer struct {
	*planner
	*job
	old   *stored // the document as it is stored, empty for a new one
	names *names

	sections []string // keys
	used     map[string]int
	wanted   map[graph.ID]bool
	edgesNow map[edgeKey]bool
}

func (w *writer) write() error {
	var known parse.Known
	if w.doc != nil {
		if err := w.cat.load(w.ctx, w.doc); err != nil {
			return err
		}
		known = parse.NewKnown(w.doc.texts())
	}
	chunks := w.file.doc.Chunks(known)
	for i := range chunks { // a part of a text may resemble a credential although the whole does not
		var err error
		if chunks[i].Text, _, err = w.in.Sums.Redact(chunks[i].Text); err != nil {
			return err
		}
	}
	w.wanted, w.edgesNow = make(map[graph.ID]bool), make(map[edgeKey]bool)
	w.used = make(map[string]int)
	w.collection()
	w.document(chunks)
	w.nameSections()
	for i := range w.file.doc.Sections {
		w.section(i)
	}
	keys := w.chunkKeys(chunks)
	for i := range chunks {
		if err := w.chunk(&chunks[i], keys, i); err != nil {
			return err
		}
	}
	if err := w.drop(); err != nil {
		return err
	}
	w.edges(w.file.Path, w.old.edges, w.edgesNow)
	r := Result{Path: w.file.Path, Action: w.act, Chunks: len(chunks)}
	if w.act == Renamed {
		r.From = w.doc.path
	}
	w.out.Results = append(w.out.Results, r)
	return nil
}

// drop removes the sections and chunks that no longer exist, except those that a user hid, and shows nodes again that
// were hidden with their file.
func (w *writer) drop() error {
	shown := []graph.ID{w.id}
	for _, id := range w.old.ids() {
		if w.wanted[id] {
			shown = append(shown, id)
			continue
		}
		if w.old.hidden[id] {
			up := w.old.place(id, func(id graph.ID) bool { return w.wanted[id] || w.old.hidden[id] })
			w.edgesNow[edgeKey{PartOf, id, up}] = true
			continue
		}
		w.going[id] = true
		w.drops = append(w.drops, graph.Change{Remove: &graph.Removal{Node: graph.Ref{ID: id}}})
	}
	if !w.old.retired {
		return nil
	}
	for _, id := range shown {
		m, err := w.cat.snap.Mark(w.ctx, graph.OnNode, id)
		if err != nil {
			return err
		}
		if isGone(m) {
			on := &graph.MarkRef{Node: graph.Ref{ID: id}}
			w.late = append(w.late, graph.Change{Remove: &graph.Removal{Mark: on}})
		}
	}
	return nil
}

func (w *writer) collection() {
	project := w.file.Path.Project
	key := CollectionKey(project)
	w.edgesNow[edgeKey{PartOf, w.id, graph.NodeID(key)}] = true
	if w.cat.roots[project] {
		return
	}
	w.cat.roots[project] = true
	w.out.Changes = append(w.out.Changes, graph.Change{Node: &graph.NodeChange{Key: key, Type: TypeCollection}})
}

// put adds the change that makes a stored node equal to c. props are properties to remove if c lacks them.
func (w *writer) put(c *graph.NodeChange, props ...string) {
	id := c.Target()
	w.wanted[id] = true
	old := w.old.nodes[id]
	if id == w.id && w.doc != nil {
		old = w.doc.node
	}
	if old != nil {
		for _, name := range props {
			_, has := ipld.FindEntry(old.Props, name)
			if _, wants := ipld.FindEntry(c.Props, name); has && !wants {
				c.Unset = append(c.Unset, "props."+name)
			}
		}
		if _, changed, err := c.Apply(old, old.Created); err == nil && !changed {
			return
		}
	}
	w.out.Changes = append(w.out.Changes, graph.Change{Node: c})
}

func (w *writer) document(chunks []parse.Chunk) {
	d, f := w.file.doc, w.file
	src := f.Path.source()
	name := f.Path.String()
	c := &graph.NodeChange{Key: w.key, Type: TypeDocument, Summary: &name}
	p := props{
		{Key: propPath, Value: ipld.StringValue(f.Path.Name)}, {Key: propTitle, Value: ipld.StringValue(d.Title)},
		{Key: propFormat, Value: ipld.StringValue(string(f.Format))},
	}
	p.text(propAbout, d.About)
	p.text(propProject, f.Path.Project)
	if f.keyed != nil {
		p = append(p, ipld.Entry{Key: propDigest, Value: ipld.BytesValue(f.keyed)})
		if f.Redacted > 0 {
			p = append(p, ipld.Entry{Key: propRedacted, Value: ipld.IntValue(int64(f.Redacted))})
		}
	} else {
		src.Hash = &f.Sum
	}
	var links []string
	for i := range chunks {
		links = append(links, chunks[i].Links...)
	}
	slices.Sort(links)
	links = slices.Compact(links)
	size := 0
	for i, link := range links {
		if size += len(link); i == maxDocLinks || size > maxLinkBytes {
			links = links[:i]
			break
		}
	}
	former := make([]string, len(w.was))
	for i, was := range w.was {
		former[i] = was.Name
	}
	fields := metaProps(d.Meta)
	var names []string
	for _, f := range fields {
		names = append(names, f.Key)
	}
	p.list(propFormer, former)
	p.list(propAliases, d.Aliases)
	p.list(memory.PropTags, d.Tags)
	p.list(propLinks, links)
	p.list(propColumns, f.Columns.List())
	p.list(propFields, names)
	c.Props = append(p, fields...)
	ipld.SortEntries(c.Props)
	c.Sources = []string{src.String()}
	w.put(c, slices.Concat(fileProps, listProp(w.old.node, propFields))...)
}

// fileProps are the properties that a document may have of its file, and lose again.
var fileProps = []string{
	propProject, propFormer, propAliases, memory.PropTags, propLinks, propFields, propDigest, propRedacted, propColumns,
	propAbout, propGone,
}

// reserved are further property names that have a meaning here. A field with such a name stays in the text only.
var reserved = []string{
	propPath, propTitle, propFormat, propRecord, memory.PropImportance, memory.PropEntities, memory.PropExpires,
	memory.PropPinned,
}

// metaProps are the fields of front matter as properties of the kinds that they have.
func metaProps(meta []parse.Field) (out []ipld.Entry) {
	for _, f := range meta {
		if slices.Contains(fileProps, f.Name) || slices.Contains(reserved, f.Name) || len(f.Name) > graph.MaxPropName {
			continue
		}
		v := ipld.StringValue(f.Value)
		switch f.Kind {
		case parse.NumberField:
			if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
				v = ipld.IntValue(n)
			}
		case parse.TruthField:
			v = ipld.BoolValue(f.Value == "true")
		case parse.ListField:
			v = source.TextList(f.Items)
		}
		out = append(out, ipld.Entry{Key: f.Name, Value: v})
	}
	return out
}

// nameSections makes the keys of the sections: the slugs on the way to each, with a number for the second of the same.
func (w *writer) nameSections() {
	for _, s := range w.file.doc.Sections {
		up := w.key
		if s.Parent >= 0 {
			up = w.sections[s.Parent]
		}
		w.sections = append(w.sections, w.unused(up+"/"+slug(&s)))
	}
}

// slug is how keys name a section: a record by its id, whatever its title.
func slug(s *parse.Section) string {
	if s.ID != "" {
		return parse.Slug(s.ID)
	}
	return parse.Slug(s.Title)
}

// when is the time of the record that a section is, the zero value for none.
func (w *writer) when(section int) (t graph.OptTime) {
	if section >= 0 && w.file.doc.Sections[section].Time != "" {
		if at, err := graph.ParseTime(w.file.doc.Sections[section].Time); err == nil { // checked when it was read
			t = graph.At(at)
		}
	}
	return t
}

func (w *writer) unused(key string) string {
	out := key
	for n := max(w.used[key], 1); w.used[out] > 0; { // continue where the last search for that name ended
		n++
		out = key + "-" + strconv.Itoa(n)
		w.used[key] = n
	}
	w.used[out] = max(w.used[out], 1)
	return out
}

// place returns the key of a section, or of the document for -1.
func (w *writer) place(section int) string {
	if section < 0 {
		return w.key
	}
	return w.sections[section]
}

// context returns the title and the headings around a section, with its own.
func (w *writer) context(section int) string {
	path := append([]string{w.file.doc.Title}, w.file.doc.Path(section)...)
	return text.FirstBytes(strings.Join(path, placeMark), 4*maxTitle)
}

func (w *writer) section(i int) {
	s := &w.file.doc.Sections[i]
	place := w.context(i)
	c := &graph.NodeChange{Key: w.sections[i], Type: TypeSection, Summary: &place, Created: w.when(i)}
	if s.ID != "" {
		c.Props = []ipld.Entry{{Key: propRecord, Value: ipld.StringValue(s.ID)}}
	}
	w.put(c, propRecord)
	id := graph.NodeID(w.sections[i])
	w.edgesNow[edgeKey{PartOf, id, graph.NodeID(w.place(s.Parent))}] = true
	if w.file.Format.Decls() {
		w.edgesNow[edgeKey{Defines, w.id, id}] = true
	}
}

// chunkKeys gives each chunk the key of the one that it continues, or a new one.
func (w *writer) chunkKeys(chunks []parse.Chunk) []string {
	now := make([]passage, len(chunks))
	for i, c := range chunks {
		now[i] = passage{strings.TrimPrefix(w.place(c.Section), w.key), c.Text}
	}
	for _, n := range w.old.chunks {
		w.used[n.Key] = 1
	}
	keys := make([]string, len(chunks))
	for i, o := range align(w.old.passages(), now) {
		if o >= 0 {
			keys[i] = w.old.chunks[o].Key
			continue
		}
		at := "top"
		if s := chunks[i].Section; s >= 0 {
			at = slug(&w.file.doc.Sections[s])
		}
		sum := sha256.Sum256([]byte(chunks[i].Text))
		keys[i] = w.unused(w.key + "#" + at + "/" + hex.EncodeToString(sum[:4]))
	}
	return keys
}

// chunk plans the node of a chunk. The first chunk has the document's title, so that a query with the title finds it.
func (w *writer) chunk(c *parse.Chunk, keys []string, i int) error {
	id := graph.NodeID(keys[i])
	change := &graph.NodeChange{Key: keys[i], Type: TypeChunk, Created: w.when(c.Section)}
	summary, context, body := c.Text, w.context(c.Section), ""
	if title := w.file.doc.Title; i == 0 {
		summary, body = title, c.Text
		if c.Section < 0 { // and there is no heading around it
			context = ""
		}
	} else {
		context += w.says.of(w.file.Path, w.file.Format)
	}
	change.Summary, change.Context = &summary, &context
	if err := change.SetContent(body, ""); err != nil {
		return err
	}
	if len(c.Links) > 0 {
		change.Props = []ipld.Entry{{Key: propLinks, Value: source.TextList(c.Links)}}
	}
	// If the text did not change its lines are left as they were: else a line more would change all that follows.
	if old := w.old.nodes[id]; old == nil || textOf(old) != c.Text || w.act != Changed || len(old.Sources) == 0 {
		change.Sources = []string{w.file.source(c)}
	}
	w.put(change, propLinks)
	w.edgesNow[edgeKey{PartOf, id, graph.NodeID(w.place(c.Section))}] = true
	if i+1 < len(keys) {
		w.edgesNow[edgeKey{Next, id, graph.NodeID(keys[i+1])}] = true
	}
	from := append([]Path{w.file.Path}, w.was...)
	for _, link := range c.Links {
		if e, ok := w.names.link(from, id, w.id, link); ok {
			w.edgesNow[e] = true
		}
	}
	return nil
}

package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/ipld"
)

// ErrMoved is returned by Plan if another process ingested concurrently: the memory no longer has the version of a file
// that made the caller skip reading it.
var ErrMoved = errors.New("the documents changed concurrently")

// Action is the change to a document.
type Action string

// The actions.
const (
	Added    Action = "added"
	Changed  Action = "changed"
	Renamed  Action = "renamed" // perhaps changed too
	Removed  Action = "removed"
	Retired  Action = "retired" // kept, hidden
	Restored Action = "restored"
)

// Input describes the files to ingest.
type Input struct {
	Files []*File // that were read, each path once
	// Present are further files that are there: as the memory has them, with their sum, or, if that is
	// nil, such that cannot be read, whose documents stay as they are.
	Present map[Path]*Sum
	// Gone reports whether a document is removed where its file is not there: whether it would have been found.
	Gone func(Path) bool
	Keep bool // hide documents whose files are gone instead of removing them
	Sums *Redactor
}

// Result describes the change to one document.
type Result struct {
	Path   Path
	Action Action
	From   Path // of a document that was renamed
	Chunks int
}

// Plan holds the changes that bring a snapshot up to date.
type Plan struct {
	Changes []graph.Change
	Results []Result // by path
}

type planner struct {
	ctx context.Context
	cat *Catalogue
	in  *Input
	out Plan

	work   []*job            // a file each
	gone   []*stored         // whose files are not there and not elsewhere
	going  map[graph.ID]bool // nodes that are removed
	minted map[string]bool
	late   []graph.Change // edges, then removals
	drops  []graph.Change

	said, says abouts // before and after
}

// job is a file, and the document that it is a version of.
type job struct {
	file *File
	doc  *stored // nil for a new one
	key  string
	id   graph.ID
	act  Action
	was  []Path // paths of the document before, the newest first
}

// Plan returns the changes that make the memory have the files.
func (c *Catalogue) Plan(ctx context.Context, in *Input) (*Plan, error) {
	p := &planner{ctx: ctx, cat: c, in: in, minted: make(map[string]bool), going: make(map[graph.ID]bool)}
	for _, step := range []func() error{p.sort, p.renames, p.mint, p.documents, p.leave} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.out.Changes = slices.Concat(p.out.Changes, p.late, p.drops)
	slices.SortStableFunc(p.out.Results, func(a, b Result) int { return comparePaths(a.Path, b.Path) })
	return &p.out, nil
}

// sort finds the document of each file, and those without.
func (p *planner) sort() error {
	there := make(map[Path]bool)
	for _, f := range p.in.Files {
		there[f.Path] = true
		j := &job{file: f, doc: p.cat.byPath[f.Path], act: Added}
		if j.doc != nil {
			if j.act = Changed; j.doc.retired {
				j.act = Restored
			} else if same, err := p.cat.Same(f.Path, f.Sum, p.in.Sums); err != nil {
				return err
			} else if same && slices.Equal(p.cat.Columns(f.Path).List(), f.Columns.List()) {
				continue
			}
		}
		p.work = append(p.work, j)
	}
	for path, sum := range p.in.Present {
		there[path] = true
		if sum == nil {
			continue
		}
		if same, err := p.cat.Same(path, *sum, p.in.Sums); err != nil || !same {
			return errors.Join(err, ErrMoved)
		}
	}
	for _, d := range p.cat.all {
		if !there[d.path] && p.in.Gone(d.path) {
			p.gone = append(p.gone, d)
		}
	}
	return nil
}

// renames gives new files the documents of files that are gone: those with the same bytes, then those with
// half of their chunks.
func (p *planner) renames() error {
	if len(p.gone) == 0 {
		return nil
	}
	owners := make(map[string][]*stored) // of chunks
	for _, d := range p.gone {
		if err := p.cat.load(p.ctx, d); err != nil {
			return err
		}
		for _, text := range d.texts() {
			owners[text] = append(owners[text], d)
		}
	}
	known := parse.NewKnown(slices.Sorted(maps.Keys(owners)))
	for _, exact := range []bool{true, false} {
		for _, j := range p.work {
			if j.doc != nil {
				continue
			}
			d := p.sameBytes(j.file)
			if !exact {
				d = p.sameChunks(j.file, owners, known)
			}
			if d == nil {
				continue
			}
			j.doc, j.act = d, Renamed
			p.gone = slices.DeleteFunc(p.gone, func(o *stored) bool { return o == d })
		}
	}
	return nil
}

func (p *planner) sameBytes(f *File) *stored {
	for _, d := range p.gone {
		if d.sum != nil && *d.sum == f.Sum || d.sum == nil && f.keyed != nil && bytes.Equal(d.keyed, f.keyed) {
			return d
		}
	}
	return nil
}

// sameChunks returns the document that shares the most chunks with a file, if these are half of both.
func (p *planner) sameChunks(f *File, owners map[string][]*stored, known parse.Known) *stored {
	votes := make(map[*stored]int)
	for _, c := range f.doc.Chunks(known) {
		for _, d := range owners[c.Text] {
			votes[d]++
		}
	}
	var best *stored
	for _, d := range p.gone { // in the order of their paths
		if votes[d] > 0 && (best == nil || votes[d] > votes[best]) {
			best = d
		}
	}
	if best == nil {
		return nil
	}
	old := best.texts()
	now := f.doc.Chunks(parse.NewKnown(old))
	equal := 0
	for _, c := range now {
		if slices.Contains(old, c.Text) {
			equal++
		}
	}
	if 4*equal < len(old)+len(now) {
		return nil
	}
	return best
}

func (p *planner) mint() error {
	for _, j := range p.work {
		if j.doc != nil {
			j.key, j.id = j.doc.node.Key, j.doc.node.ID
			j.was = j.doc.formerly(j.file.Path)
			continue
		}
		for n := 0; j.key == ""; n++ {
			sum := sha256.Sum256([]byte("mnem:document:" + j.file.Path.Project + "\x00" + j.file.Path.Name +
				"\x00" + strconv.Itoa(n)))
			key := "doc/" + hex.EncodeToString(sum[:8])
			_, taken, err := p.cat.node(p.ctx, graph.NodeID(key))
			if err != nil {
				return err
			}
			if !taken && !p.minted[key] {
				j.key, j.id = key, graph.NodeID(key)
				p.minted[key] = true
			}
		}
	}
	return nil
}

func (p *planner) documents() error {
	if len(p.work)+len(p.gone) == 0 {
		return nil
	}
	var before, after []named
	mine, lost := make(map[*stored]bool), make(map[*stored]bool)
	p.said, p.says = make(abouts), make(abouts)
	says := make(map[Path]string)
	for _, j := range p.work {
		mine[j.doc] = true
		says[j.file.Path] = j.file.doc.About
		after = append(after, named{j.id, j.file.Path, j.file.doc.Title, j.file.doc.Aliases, j.was})
	}
	for _, d := range p.gone {
		lost[d] = true
		if !p.in.Keep && len(d.hidden) == 0 { // all are loaded: they might have been renamed
			p.going[d.node.ID] = true
		}
	}
	for _, d := range p.cat.all {
		n := named{d.node.ID, d.path, d.title(), listProp(d.node, propAliases), d.former()}
		if !d.retired {
			before = append(before, n)
			p.said.add(d.path, textProp(d.node, propAbout))
			if !mine[d] && !lost[d] {
				after = append(after, n)
				says[d.path] = textProp(d.node, propAbout)
			}
		}
	}
	for _, path := range slices.SortedFunc(maps.Keys(says), comparePaths) {
		p.says.add(path, says[path])
	}
	old, now := newNames(before), newNames(after)
	for _, j := range p.work {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		w := &writer{planner: p, job: j, names: now, old: cmp.Or(j.doc, &stored{node: new(graph.Node)})}
		if err := w.write(); err != nil {
			return err
		}
	}
	for _, d := range p.cat.all {
		if d.retired || mine[d] || lost[d] {
			continue
		}
		from := append([]Path{d.path}, d.former()...)
		moved := func(link string) bool { return old.follow(from, link) != now.follow(from, link) }
		if slices.ContainsFunc(listProp(d.node, propLinks), moved) {
			if err := p.relink(d, from, now); err != nil {
				return err
			}
		}
		if err := p.reword(d); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) relink(d *stored, from []Path, now *names) error {
	if err := p.cat.load(p.ctx, d); err != nil {
		return err
	}
	want := make(map[edgeKey]bool)
	for _, n := range d.chunks {
		for _, link := range listProp(n, propLinks) {
			if e, ok := now.link(from, n.ID, d.node.ID, link); ok {
				want[e] = true
			}
		}
	}
	have := maps.Clone(d.edges)
	maps.DeleteFunc(have, func(e edgeKey, _ bool) bool { return e.typ != LinksTo && e.typ != Imports })
	p.edges(d.path, have, want)
	return nil
}

// edges makes the edges of a document that are wanted of those there are. Those whose nodes go need no change.
func (p *planner) edges(of Path, have, want map[edgeKey]bool) {
	test := parse.IsTest(of.Name)
	for _, e := range sortedEdges(want) {
		if !have[e] {
			change := &graph.EdgeChange{Type: e.typ, Src: graph.Ref{ID: e.src}, Dst: graph.Ref{ID: e.dst}}
			// All files are next to a collection, and a test has the words of all that it tries: neither is to
			// make others be found.
			if test || p.isCollection(e.dst) {
				change.Weight = 1
			}
			p.late = append(p.late, graph.Change{Edge: change})
		}
	}
	for _, e := range sortedEdges(have) {
		if !want[e] && !p.going[e.src] && !p.going[e.dst] {
			p.drops = append(p.drops, graph.Change{Remove: &graph.Removal{Edge: &graph.EdgeRef{
				Type: e.typ, Src: graph.Ref{ID: e.src}, Dst: graph.Ref{ID: e.dst},
			}}})
		}
	}
}

func (p *planner) isCollection(id graph.ID) bool {
	for project := range p.cat.roots {
		if graph.NodeID(CollectionKey(project)) == id {
			return true
		}
	}
	return false
}

func sortedEdges(set map[edgeKey]bool) []edgeKey {
	return slices.SortedFunc(maps.Keys(set), func(a, b edgeKey) int {
		return cmp.Or(a.src.Compare(b.src), a.dst.Compare(b.dst), cmp.Compare(a.typ, b.typ))
	})
}

// leave removes or hides the documents whose files are gone.
func (p *planner) leave() error {
	for _, d := range p.gone {
		if d.retired {
			continue // it was kept: nothing changed
		}
		if err := p.cat.load(p.ctx, d); err != nil {
			return err
		}
		act := Retired
		if !p.in.Keep && len(d.hidden) == 0 {
			act = Removed
		}
		p.out.Results = append(p.out.Results, Result{Path: d.path, Action: act, Chunks: len(d.chunks)})
		for _, id := range append(d.ids(), d.node.ID) {
			switch {
			case act == Removed, !p.in.Keep && id != d.node.ID && !d.hidden[id]:
				p.drops = append(p.drops, graph.Change{Remove: &graph.Removal{Node: graph.Ref{ID: id}}})
				continue
			case !p.in.Keep && id != d.node.ID:
				p.hang(d, id)
			}
			if err := p.retire(d, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// hang moves a node that a user hid to the nearest node that stays when its document is removed.
func (p *planner) hang(d *stored, id graph.ID) {
	up := d.place(id, func(id graph.ID) bool { return d.hidden[id] })
	if !d.edges[edgeKey{PartOf, id, up}] {
		p.late = append(p.late, graph.Change{Edge: &graph.EdgeChange{
			Type: PartOf, Src: graph.Ref{ID: id}, Dst: graph.Ref{ID: up},
		}})
	}
}

// retire hides a node whose file is gone. A node with a mark keeps it; a document then gets a property.
func (p *planner) retire(d *stored, id graph.ID) error {
	m, err := p.cat.snap.Mark(p.ctx, graph.OnNode, id)
	switch {
	case err != nil:
		return err
	case m == nil:
		p.late = append(p.late, graph.Change{Mark: &graph.MarkChange{
			On: graph.MarkRef{Node: graph.Ref{ID: id}}, State: graph.Retired, Reason: goneReason,
		}})
	case id == d.node.ID:
		p.out.Changes = append(p.out.Changes, graph.Change{Node: &graph.NodeChange{
			Key: d.node.Key, Props: []ipld.Entry{{Key: propGone, Value: ipld.BoolValue(true)}},
		}})
	}
	return nil
}

func (d *stored) ids() []graph.ID {
	return slices.SortedFunc(maps.Keys(d.nodes), graph.ID.Compare)
}

// abouts holds the descriptions of packages by directory: the first sentence of the package comment. It is added to the
// context of the package's chunks, which seldom contain its words.
type abouts map[Path]string

// add adds a document's description of its package. The document with the first path wins.
func (a abouts) add(p Path, about string) {
	if dir := packageOf(p); about != "" && a[dir] == "" && !parse.IsTest(p.Name) {
		a[dir] = about
	}
}

// of returns the description for the context of a document, with the mark before it.
func (a abouts) of(p Path, format parse.Format) string {
	if about := a[packageOf(p)]; about != "" && format == parse.Go && !parse.IsTest(p.Name) {
		return placeMark + about
	}
	return ""
}

func packageOf(p Path) Path { return Path{p.Project, path.Dir(p.Name)} }

// reword makes the contexts of the chunks of a document that is unchanged end with what its package says now.
func (p *planner) reword(d *stored) error {
	format := parse.Format(textProp(d.node, propFormat))
	was, now := p.said.of(d.path, format), p.says.of(d.path, format)
	if was == now {
		return nil
	}
	if err := p.cat.load(p.ctx, d); err != nil {
		return err
	}
	for i, n := range d.chunks {
		if i == 0 {
			continue // as in writer.chunk
		}
		context := strings.TrimSuffix(n.Context, was) + now
		p.out.Changes = append(p.out.Changes, graph.Change{
			Node: &graph.NodeChange{Key: n.Key, Type: TypeChunk, Context: &context},
		})
	}
	return nil
}

// textProp returns a property that is a text, "" for none.
func textProp(n *graph.Node, name string) string {
	v, _ := ipld.FindEntry(n.Props, name)
	if v.Kind() != ipld.String {
		return ""
	}
	return v.Text()
}

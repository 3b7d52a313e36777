package outlining

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// Kinds of entries of a map that are no digests.
const (
	kindMemory = "memory"
	kindFolder = "folder" // of an ingested project
)

const (
	typeSession    = "Session"
	typeCollection = "Collection"
	typeDocument   = "Document"

	maxListed    = 512  // memories and scopes of one scope that are listed; of more, its clusters
	maxFiles     = 8192 // documents of a project that are read for its folders
	purposeTitle = 120  // characters of what a folder is for
	shortID      = 8    // digits of an id that are shown

	// sessionTime is how long after its beginning a memory counts as decided in a session, if no other began.
	sessionTime = 12 * time.Hour
)

// mapRow may become an entry: a digest, a folder or a memory.
type mapRow struct {
	digest  *distill.Digest
	folder  *folder
	fact    *mapFact
	node    *graph.Node // that the digest is of, nil for none
	decided []*mapFact  // in this session
	place   []int       // of it and of those above among theirs
}

type mapFact struct {
	node  *graph.Node
	title string
}

// folder is a directory of a project with its own documents, without those of directories in it.
type folder struct {
	project graph.ID
	name    string // the path with the project's name in front
	about   string // what its documents say of it
	files   []*graph.Node
}

// mapTop returns what a map begins with: nil if the memory is empty, nil and the id for a memory that is no scope.
func (v *digestView) mapTop(ctx context.Context, name string) (*mapRow, graph.ID, error) {
	top, id, err := v.find(ctx, name)
	if err != nil {
		if f, folderErr := v.findFolder(ctx, name); f != nil || folderErr != nil {
			return &mapRow{folder: f}, id, folderErr
		}
		return nil, id, err
	}
	if top == nil {
		return nil, id, nil
	}
	row := &mapRow{digest: top}
	row.node, err = v.scopeNode(ctx, top)
	return row, id, err
}

// scopeNode returns the node that a digest is of, nil for a digest of no node or of a part of one.
func (v *digestView) scopeNode(ctx context.Context, d *distill.Digest) (*graph.Node, error) {
	if d.Scope.IsZero() || d.Label != "" || d.Name != "" {
		return nil, nil
	}
	return v.node(ctx, d.Scope)
}

// node reads a node, nil if the snapshot does not have it.
func (v *digestView) node(ctx context.Context, id graph.ID) (*graph.Node, error) {
	n, _, err := v.snap.Node(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return n, err
}

// rows returns what is right below a row.
func (v *digestView) rows(ctx context.Context, row mapRow) (list []mapRow, err error) {
	switch d := row.digest; {
	case row.fact != nil:
	case row.folder != nil:
		for _, n := range row.folder.files {
			list = append(list, mapRow{fact: &mapFact{n, fileTitle(n)}})
		}
	case row.node != nil && row.node.Type == typeCollection:
		folders, err := v.folders(ctx, row.node)
		if err != nil {
			return nil, err
		}
		for _, f := range folders {
			list = append(list, mapRow{folder: f})
		}
	case d.Members > maxListed:
		if list, err = v.clusters(ctx, d); err != nil {
			return nil, err
		}
	default:
		if list, err = v.listed(ctx, row); err != nil {
			return nil, err
		}
	}
	for i := range list {
		list[i].place = append(slices.Clone(row.place), i)
	}
	return list, nil
}

// clusters returns the digests right below one, the largest first.
func (v *digestView) clusters(ctx context.Context, d *distill.Digest) (list []mapRow, err error) {
	for _, c := range v.below(d) {
		row, err := v.linked(ctx, c)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	sortRows(list)
	return list, nil
}

func (v *digestView) linked(ctx context.Context, c ipld.CID) (row mapRow, err error) {
	if row.digest, err = distill.Read(ctx, v.Blocks, c); err == nil {
		row.node, err = v.scopeNode(ctx, row.digest)
	}
	return row, err
}

// listed returns the memories and scopes of a digest: memories, the newest first; then sessions with what was decided
// in them, the newest first; then the other scopes, the largest first. Parts of files and conversations are listed only
// in their own scope.
func (v *digestView) listed(ctx context.Context, row mapRow) ([]mapRow, error) {
	facts, scopes, err := v.members(ctx, row.digest, len(row.place) == 0 && !row.digest.Scope.IsZero())
	if err != nil {
		return nil, err
	}
	sortRows(scopes)
	var sessions, rest []mapRow
	for _, s := range scopes {
		if s.node != nil && s.node.Type == typeSession {
			sessions = append(sessions, s)
		} else {
			rest = append(rest, s)
		}
	}
	slices.SortStableFunc(sessions, func(a, b mapRow) int { return cmp.Compare(b.node.Created, a.node.Created) })
	slices.SortFunc(facts, func(a, b *mapFact) int {
		return cmp.Or(cmp.Compare(b.node.Created, a.node.Created), a.node.ID.Compare(b.node.ID))
	})
	facts = append(row.decided, assign(facts, sessions)...)
	var list []mapRow
	for _, f := range facts {
		list = append(list, mapRow{fact: f})
	}
	return slices.Concat(list, sessions, rest), nil
}

// assign moves memories to the sessions that they were kept in, which descend by time, and returns the others.
func assign(facts []*mapFact, sessions []mapRow) (left []*mapFact) {
	for _, f := range facts {
		at := slices.IndexFunc(sessions, func(s mapRow) bool { return s.node.Created <= f.node.Created })
		if at >= 0 && f.node.Created.Std().Sub(sessions[at].node.Created.Std()) <= sessionTime {
			sessions[at].decided = append(sessions[at].decided, f)
		} else {
			left = append(left, f)
		}
	}
	return left
}

// members reads the entries of a digest and of its clusters: its memories, with parts also what is no memory, and its
// scopes.
func (v *digestView) members(ctx context.Context, d *distill.Digest, parts bool) (facts []*mapFact, scopes []mapRow, err error) {
	for _, k := range d.Kids {
		below, err := distill.Read(ctx, v.Blocks, k.Link)
		if err != nil {
			return nil, nil, err
		}
		f, s, err := v.members(ctx, below, parts)
		if err != nil {
			return nil, nil, err
		}
		facts, scopes = append(facts, f...), append(scopes, s...)
	}
	for _, e := range d.Entries {
		if e.Link.Defined() {
			row, err := v.linked(ctx, e.Link)
			if err != nil {
				return nil, nil, err
			}
			scopes = append(scopes, row)
			continue
		}
		id := e.Key.ID()
		if id == d.Scope {
			continue
		}
		f, err := v.mapFact(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if f != nil && (parts || memory.IsMemory(f.node) || f.node.Type == typeDocument) {
			facts = append(facts, f)
		}
	}
	return facts, scopes, nil
}

// mapFact reads a memory that is seen, nil for another.
func (v *digestView) mapFact(ctx context.Context, id graph.ID) (*mapFact, error) {
	if shown, err := v.see().Node(ctx, id); !shown || err != nil {
		return nil, err
	}
	n, err := v.node(ctx, id)
	if n == nil || err != nil {
		return nil, err
	}
	title := n.Summary
	if title == "" {
		f, err := v.Reader.Fact(ctx, id)
		if f == nil || err != nil {
			return nil, err
		}
		title = f.Text
	}
	return &mapFact{n, oneLine(title)}, nil
}

// folders returns the directories of a project that have documents: those that say what they are for first, then the
// shallow before the deep, and the large before the small.
func (v *digestView) folders(ctx context.Context, project *graph.Node) ([]*folder, error) {
	byPath, read := map[string]*folder{}, 0
	for id, err := range v.Reader.Down(ctx, project.ID) {
		if err != nil {
			return nil, err
		}
		if read++; read > maxFiles {
			break
		}
		n, err := v.node(ctx, id)
		if err != nil {
			return nil, err
		}
		if n == nil || n.Type != typeDocument {
			continue
		}
		if shown, err := v.see().Node(ctx, id); err != nil {
			return nil, err
		} else if !shown {
			continue
		}
		dir := path.Dir(path.Join("/", prop(n, "project"), prop(n, "path")))[1:]
		f := byPath[dir]
		if f == nil {
			f = &folder{project: project.ID, name: dir}
			byPath[dir] = f
		}
		f.files = append(f.files, n)
	}
	var list []*folder
	for _, f := range byPath {
		f.finish()
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *folder) int {
		return cmp.Or(cmp.Compare(min(len(b.about), 1), min(len(a.about), 1)), // those with a purpose
			cmp.Compare(strings.Count(a.name, "/"), strings.Count(b.name, "/")),
			cmp.Compare(len(b.files), len(a.files)), cmp.Compare(a.name, b.name))
	})
	return list, nil
}

// finish sorts the documents of a folder by name. The first that says what it is for, tests apart, speaks for the folder.
func (f *folder) finish() {
	slices.SortFunc(f.files, func(a, b *graph.Node) int {
		return cmp.Or(cmp.Compare(prop(a, "path"), prop(b, "path")), a.ID.Compare(b.ID))
	})
	for _, n := range f.files {
		if about := prop(n, "about"); about != "" && !strings.HasSuffix(prop(n, "path"), "_test.go") {
			f.about = about
			return
		}
	}
}

// prop returns a property that is a string, "" for any other.
func prop(n *graph.Node, name string) string {
	if v, ok := ipld.FindEntry(n.Props, name); ok && v.Kind() == ipld.String {
		return v.Text()
	}
	return ""
}

func fileTitle(n *graph.Node) string {
	title := path.Base(prop(n, "path"))
	if about := prop(n, "about"); about != "" {
		title += ": " + about
	}
	return oneLine(title)
}

// findFolder returns the folder that a map shows by a name, nil if there is none.
func (v *digestView) findFolder(ctx context.Context, name string) (*folder, error) {
	project, _, _ := strings.Cut(name, "/")
	n, err := v.node(ctx, graph.NodeID("files:"+project))
	if n == nil || err != nil {
		return nil, err
	}
	list, err := v.folders(ctx, n)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(list, func(f *folder) bool { return f.name == name }); at >= 0 {
		return list[at], nil
	}
	return nil, nil
}

func (v *digestView) rowEntry(ctx context.Context, row *mapRow) (MapEntry, error) {
	switch {
	case row.fact != nil:
		n := row.fact.node
		return MapEntry{
			DigestRow: DigestRow{
				ID: verb.Text(n.ID.String()), Name: verb.Text(factName(n)), Kind: kindMemory,
				Title: verb.Text(row.fact.title), Facts: 1,
			},
			Type: n.Type, Created: graph.At(n.Created), Depth: len(row.place),
		}, nil
	case row.folder != nil:
		f := row.folder
		return MapEntry{
			DigestRow: DigestRow{
				ID: verb.Text(f.name), Name: verb.Text(f.name), Kind: kindFolder, Title: verb.Text(clipLine(f.purpose(), purposeTitle)),
				Facts: len(f.files),
			},
			Depth: len(row.place),
		}, nil
	}
	e, err := v.entry(ctx, row.digest, len(row.place))
	if row.node != nil {
		e.Type, e.Created = row.node.Type, graph.At(row.node.Created)
	}
	return e, err
}

// purpose says what a folder is for, without repeating its name.
func (f *folder) purpose() string {
	about := strings.TrimPrefix(f.about, "Package "+path.Base(f.name)+" ")
	return strings.TrimPrefix(about, "Command "+path.Base(f.name)+" ")
}

// factName is the shortest name of a memory that finds it again: its key, or the beginning of its id.
func factName(n *graph.Node) string {
	if n.Key == "" || opaque(n.Key) {
		return n.ID.String()[:shortID]
	}
	return n.Key
}

// opaque reports whether a key tells a person nothing: it has a hash or a UUID in it.
func opaque(key string) bool {
	run := 0
	for _, c := range key {
		if run++; (c < '0' || c > '9') && (c < 'a' || c > 'f') && c != '-' {
			run = 0
		}
		if run == opaqueRun {
			return true
		}
	}
	return false
}

// opaqueRun is the number of hex digits that make a key opaque: those of the hashes of documents.
const opaqueRun = 16

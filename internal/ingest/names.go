package ingest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/ingest/parse"
)

// named is a document as links know it.
type named struct {
	id      graph.ID
	path    Path
	title   string
	aliases []string
	former  []Path // that it had before, the newest first
}

// names finds the documents that links lead to.
type names struct {
	paths map[Path]graph.ID
	pkgs  map[Path]graph.ID // of the directories that have source files
	stems map[Path][]named  // by name in lower case, the shortest path first
	calls map[Path][]named  // by alias or title in lower case, likewise
	mods  map[Path][]Path   // source files by the last two names of their paths without ending, the shortest first

	former *names // the documents by the paths that they had before, nil for none
}

func newNames(docs []named) *names {
	var before []named
	for _, d := range docs {
		for _, was := range d.former {
			before = append(before, named{id: d.id, path: was})
		}
	}
	n := byNames(docs)
	if len(before) > 0 {
		n.former = byNames(before)
	}
	return n
}

func byNames(docs []named) *names {
	n := &names{paths: make(map[Path]graph.ID), pkgs: make(map[Path]graph.ID), stems: make(map[Path][]named),
		calls: make(map[Path][]named), mods: make(map[Path][]Path)}
	slices.SortFunc(docs, func(a, b named) int {
		return cmp.Or(len(a.path.Name)-len(b.path.Name), comparePaths(a.path, b.path))
	})
	for _, d := range docs {
		n.paths[d.path] = d.id
		if path.Ext(d.path.Name) == ".go" && !strings.HasSuffix(d.path.Name, "_test.go") {
			dir := Path{d.path.Project, path.Dir(d.path.Name)}
			if _, has := n.pkgs[dir]; !has || path.Base(d.path.Name) == "doc.go" {
				n.pkgs[dir] = d.id
			}
		}
		if of := module(d.path.Name); of != "" {
			key := Path{d.path.Project, lastTwo(of)}
			n.mods[key] = append(n.mods[key], d.path)
		}
		at := Path{d.path.Project, parse.Fold(stem(d.path.Name))}
		n.stems[at] = append(n.stems[at], d)
		for _, alias := range append(d.aliases, d.title) {
			at := Path{d.path.Project, parse.Fold(alias)}
			n.calls[at] = append(n.calls[at], d)
		}
	}
	return n
}

func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// link returns the edge of a link of a document, and false if it leads to none, or to itself. The document has
// the first of the paths, and had the others before.
func (n *names) link(from []Path, src, doc graph.ID, link string) (edgeKey, bool) {
	e := edgeKey{LinksTo, src, n.follow(from, link)}
	if strings.HasPrefix(link, parse.ImportLink) {
		e.typ = Imports
	}
	return e, !e.dst.IsZero() && e.dst != doc
}

// follow returns the document that a link leads to, zero for none: what is there now goes before what was there, and
// where the document is before where it was. So links to and from a file that was renamed last until they are mended.
func (n *names) follow(from []Path, link string) graph.ID {
	for _, at := range from {
		for _, level := range []*names{n, n.former} {
			if level == nil {
				continue
			}
			if id := level.resolve(at, link); !id.IsZero() {
				return id
			}
		}
	}
	return graph.ID{}
}

// resolve returns the document that a link of another one leads to, zero for none.
func (n *names) resolve(from Path, link string) graph.ID {
	if pkg, ok := strings.CutPrefix(link, parse.ImportLink); ok {
		if path.Ext(from.Name) == ".go" {
			return n.pkg(from.Project, pkg)
		}
		return n.imported(from, pkg)
	}
	target, wiki := strings.CutPrefix(link, "[[")
	if !wiki {
		return n.file(from, link)
	}
	return n.wiki(from, strings.TrimSuffix(target, "]]"))
}

// wiki returns the document that a wiki link leads to, zero for none: one that is named so, with the directories that
// the link names at the end of its path, before one that is called so. Of several, nearest chooses.
func (n *names) wiki(from Path, target string) graph.ID {
	if strings.HasPrefix(target, ".") {
		if id := n.file(from, target); !id.IsZero() {
			return id
		}
	}
	if strings.Contains(target, "/") {
		whole := Path{from.Project, strings.TrimPrefix(path.Clean(target), "/")}
		if id := n.exact(whole); !id.IsZero() {
			return id
		}
	}
	for _, name := range []string{target, strings.TrimSuffix(target, ".md")} {
		var list []named
		end := "/" + parse.Fold(strings.TrimPrefix(path.Clean(name), "/"))
		for _, d := range n.stems[Path{from.Project, parse.Fold(path.Base(name))}] {
			if strings.HasSuffix("/"+parse.Fold(strings.TrimSuffix(d.path.Name, path.Ext(d.path.Name))), end) {
				list = append(list, d)
			}
		}
		if len(list) == 0 {
			list = n.calls[Path{from.Project, parse.Fold(name)}]
		}
		if len(list) > 0 {
			return nearest(from, list).id
		}
	}
	return n.exact(Path{from.Project, strings.TrimPrefix(path.Clean(target), "/")}) // with an ending, or a directory
}

// nearest chooses one of the documents that a link may mean: that in the directory of the link, then that with the
// longest common beginning of paths, then that with the shortest path, then the first by its bytes.
func nearest(from Path, list []named) named {
	best, most := list[0], -1
	for _, d := range list { // in the order of the last two rules
		common := commonDirs(path.Dir(from.Name), path.Dir(d.path.Name))
		if path.Dir(from.Name) == path.Dir(d.path.Name) {
			return d
		}
		if common > most {
			best, most = d, common
		}
	}
	return best
}

// commonDirs is how many directories two paths have in common from the root on.
func commonDirs(a, b string) int {
	n := 0
	for {
		headA, restA, _ := strings.Cut(a, "/")
		headB, restB, _ := strings.Cut(b, "/")
		if headA != headB || headA == "" || headA == "." {
			return n
		}
		n, a, b = n+1, restA, restB
	}
}

// pkg finds the file that stands for a package: of the directory with the longest end of its path, the one
// with its documentation, or the first.
func (n *names) pkg(project, dir string) graph.ID {
	for {
		if id, ok := n.pkgs[Path{project, dir}]; ok {
			return id
		}
		_, rest, ok := strings.Cut(dir, "/")
		if !ok {
			return graph.ID{}
		}
		dir = rest
	}
}

func (n *names) file(from Path, link string) graph.ID {
	to := path.Join(path.Dir(from.Name), link)
	if rooted, ok := strings.CutPrefix(link, "/"); ok {
		to = path.Clean(rooted)
	}
	return n.exact(Path{from.Project, to})
}

// exact finds a file by its path, with or without ending, or the one that stands for a directory.
func (n *names) exact(at Path) graph.ID {
	for _, more := range []string{"", ".md", "/README.md", "/index.md", ".html", "/index.html"} {
		if id, ok := n.paths[Path{at.Project, at.Name + more}]; ok {
			return id
		}
	}
	return graph.ID{}
}

// maxModules is how many files whose paths end alike are looked at for one import.
const maxModules = 64

// packageFiles are the names of files that stand for their directory.
var packageFiles = []string{"__init__", "index", "mod"}

// module returns a source file's path as imports name it: without the extension, and without the file name if that
// stands for the directory. It is empty for other files.
func module(name string) string {
	format := parse.FormatOf(name)
	if format == parse.Go || !format.Decls() {
		return ""
	}
	name = strings.TrimSuffix(name, path.Ext(name))
	if dir, base := path.Split(name); dir != "" && slices.Contains(packageFiles, base) {
		name = path.Clean(dir)
	}
	return name
}

func lastTwo(name string) string {
	dir, base := path.Split(name)
	return path.Base(dir) + "/" + base
}

// imported finds the source file that an import names, in the same language, zero for none. A path that begins with a
// dot is relative to the directory. Other paths may be relative to the root or, if they have several names, the end of a
// path. A single name must be in the importing file's directory, since any library has such a name.
func (n *names) imported(from Path, to string) graph.ID {
	id := n.sourceFile(from, to)
	if up := path.Dir(to); id.IsZero() && up != "." && path.Ext(to) == "" {
		id = n.sourceFile(from, up) // the import may name something inside a file
	}
	return id
}

// sourceFile finds the file of a path without or with its ending.
func (n *names) sourceFile(from Path, to string) graph.ID {
	dir := path.Dir(from.Name)
	places := []string{path.Join(dir, to)}
	if strings.HasPrefix(to, "./") {
		places = append(places, path.Join(strings.TrimSuffix(from.Name, path.Ext(from.Name)), to)) // of Rust
	} else {
		places = append(places, path.Clean(to))
	}
	for _, place := range places {
		if id, ok := n.paths[Path{from.Project, place}]; ok {
			return id
		}
		if id := n.endsIn(from, place, true); !id.IsZero() {
			return id
		}
	}
	if strings.HasPrefix(to, "./") || !strings.Contains(to, "/") {
		return graph.ID{}
	}
	return n.endsIn(from, to, false)
}

// endsIn finds the source file in the language of from whose path is, or ends in, a module's.
func (n *names) endsIn(from Path, mod string, whole bool) graph.ID {
	format := parse.FormatOf(from.Name)
	list := n.mods[Path{from.Project, lastTwo(mod)}]
	for _, p := range list[:min(len(list), maxModules)] {
		is := module(p.Name)
		if parse.FormatOf(p.Name) == format && (is == mod || !whole && strings.HasSuffix(is, "/"+mod)) {
			return n.paths[p]
		}
	}
	return graph.ID{}
}

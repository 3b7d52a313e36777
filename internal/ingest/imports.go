package ingest

import (
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/ingest/parse"
)

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

// lastTwo are the last two names of a path.
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
	switch {
	case strings.HasPrefix(to, "./"):
		places = append(places, path.Join(strings.TrimSuffix(from.Name, path.Ext(from.Name)), to)) // of Rust
	default:
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

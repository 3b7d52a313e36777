package lint

import (
	"encoding/json"
	"errors"
	exported "go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// surface are the packages that other programs import: nothing that they export names a type of an internal package.
var surface = []string{"repo", "repo/minilm", "graph", "ipld", "retrieve"}

// exports returns the files of compiled packages that some packages need, by import path.
func exports(t *testing.T, names []string) map[string]string {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for _, n := range names {
		args = append(args, module+n)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	out := must.Get(cmd.Output())(t, "go list")
	files := map[string]string{}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct{ ImportPath, Export string }
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return files
		}
		must.OK(t, err)
		files[p.ImportPath] = p.Export
	}
}

// TestPublicSurface walks what the library exports.
func TestPublicSurface(t *testing.T) {
	files := exports(t, surface)
	open := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	from := exported.ForCompiler(token.NewFileSet(), "gc", open)
	for _, name := range surface {
		pkg := must.Get(from.Import(module + name))(t)
		names := 0
		for _, n := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(n); o.Exported() {
				names++
				w := walker{t: t, at: name + "." + n, seen: map[types.Type]bool{}}
				w.object(o)
			}
		}
		must.Check(t, names != 0, "%s exports nothing", name)
	}
}

// walker looks at every type that an exported name leads to.
type walker struct {
	t    *testing.T
	at   string
	seen map[types.Type]bool
}

func (w walker) object(o types.Object) {
	w.check(o.Type())
	named, ok := o.Type().(*types.Named)
	if _, isType := o.(*types.TypeName); !ok || !isType {
		return
	}
	w.check(named.Underlying())
	for m := range named.Methods() {
		if m.Exported() {
			w.check(m.Type())
		}
	}
}

// check fails for a type of an internal package, and looks into types without a name.
func (w walker) check(t types.Type) {
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && strings.Contains(p.Path()+"/", "/internal/") && strings.HasPrefix(p.Path(), module) {
			w.t.Errorf("%s names %s, which is internal", w.at, t)
		}
		for a := range t.TypeArgs().Types() {
			w.check(a)
		}
	case *types.Alias:
		w.check(types.Unalias(t))
	case *types.Pointer:
		w.check(t.Elem())
	case *types.Slice:
		w.check(t.Elem())
	case *types.Array:
		w.check(t.Elem())
	case *types.Chan:
		w.check(t.Elem())
	case *types.Map:
		w.check(t.Key())
		w.check(t.Elem())
	case *types.Signature:
		w.check(t.Params())
		w.check(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.check(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				w.check(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			w.check(m.Type())
		}
	}
}

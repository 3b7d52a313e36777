package lint

import (
	"errors"
	"fmt"
	"go/ast"
	exported "go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// surface are the packages that other programs import: nothing that they export names a type of an internal package.
var surface = []string{"repo", "repo/minilm", "graph", "ipld", "retrieve"}

// TestPublicSurface walks what the library exports.
func TestPublicSurface(t *testing.T) {
	args, files := []string{"-export", "-deps", "-json=ImportPath,Export"}, map[string]string{}
	for _, n := range surface {
		args = append(args, module+n)
	}
	for _, p := range goList[struct{ ImportPath, Export string }](t, nil, args...) {
		files[p.ImportPath] = p.Export
	}
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
		must.True(t, names != 0, "%s exports nothing", name)
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

// TestTypesOnOtherSystems finds what does not compile on the systems that this one is not, in tests too, at a small
// part of what it takes to compile for them: all is parsed, of what others wrote only what is declared is looked at.
func TestTypesOnOtherSystems(t *testing.T) {
	effort.Long(t)
	effort.Alone(t)
	for _, system := range []string{"windows/amd64", "darwin/arm64"} {
		t.Run(system, func(t *testing.T) {
			c := checker{fset: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}}
			goos, arch, _ := strings.Cut(system, "/")
			checked := 0
			all := goList[compiled](t, []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + arch},
				"-deps", "-test", "-json=ImportPath,Dir,ForTest,GoFiles,ImportMap,Module", "./...") // each after those it imports
			all = slices.DeleteFunc(all, func(p compiled) bool { return p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") })
			tested := map[string]bool{} // has tests in the package itself, with which it is listed once more
			for _, p := range all {
				tested[p.path()] = tested[p.path()] || p.ForTest == p.path()
			}
			for _, p := range all {
				ours := p.Module != nil && p.Module.Main
				whole := ours && (p.ForTest == "" && !tested[p.path()] || strings.TrimSuffix(p.path(), "_test") == p.ForTest)
				if whole {
					checked += len(p.GoFiles)
				}
				must.OK(t, c.check(p, whole, arch), p.ImportPath)
			}
			must.True(t, checked >= 1000, "only %d files were checked", checked)
		})
	}
}

// compiled is one package as the go command would compile it: alone, or with the tests of a package.
type compiled struct {
	ImportPath, Dir, ForTest string
	GoFiles                  []string
	ImportMap                map[string]string
	Module                   *struct {
		Main      bool
		GoVersion string
	}
}

// path is the path that others import.
func (c compiled) path() string {
	path, _, _ := strings.Cut(c.ImportPath, " ")
	return path
}

// checker checks packages, each after those it imports.
type checker struct {
	fset *token.FileSet
	done map[string]*types.Package
}

// check checks a package: whole, or what it declares.
func (c checker) check(p compiled, whole bool, arch string) error {
	files := make([]*ast.File, len(p.GoFiles))
	for i, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		var err error
		if files[i], err = parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution); err != nil {
			return err
		}
	}
	var found []error
	conf := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			if imported := c.done[path]; imported != nil {
				return imported, nil
			}
			return nil, fmt.Errorf("%s is imported and not listed", path)
		}),
		IgnoreFuncBodies: !whole,
		Sizes:            types.SizesFor("gc", arch),
		Error:            func(err error) { found = append(found, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	c.done[p.ImportPath], _ = conf.Check(p.path(), c.fset, files, nil) // each error is in found
	return errors.Join(found...)
}

type importer func(string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

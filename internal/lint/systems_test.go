package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
			all := c.list(t, goos, arch)
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
			must.Check(t, checked >= 1000, "only %d files were checked", checked)
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

// list lists the packages of the main module, what they and their tests import, and these first.
func (c checker) list(t *testing.T, goos, arch string) []compiled {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,ForTest,GoFiles,ImportMap,Module", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.Output())(t)
	var all []compiled
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p compiled
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		must.OK(t, err)
		if p.ImportPath != "unsafe" && !strings.HasSuffix(p.ImportPath, ".test") {
			all = append(all, p)
		}
	}
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

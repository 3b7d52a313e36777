package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const (
	root         = "../.."
	maxFile      = 900 // lines
	maxTestFile  = 900
	maxFunction  = 100
	reasonMarker = "long because" // in the doc comment of a function over maxFunction
)

// plumbing are the packages of all floors up to that of memories, and the library: there the clock, randomness, the
// environment and inexact functions are out of reach.
func plumbing() []string {
	list := []string{"repo"}
	for _, f := range floors {
		if f.name == "remotes" {
			break
		}
		for name := range strings.FieldsSeq(f.rooms) {
			if !slices.Contains(outside, name) {
				list = append(list, pathOf(name))
			}
		}
	}
	return list
}

// outside are packages of these floors that work with what is outside of a memory: files, other processes, models.
var outside = []string{
	"base/queue", "base/regular", "base/filestate", "base/filewatch", "base/pipe", "base/httpd", "owner", "model", "model/minilm/dot", "model/embed", "model/rerank",
	"model/rewrite", "layout", "block/store/pebble", "block/store/postgres", "agent/capture",
}

// pathOf is the directory of a package that tables name.
func pathOf(room string) string {
	if _, err := os.Stat(root + "/internal/" + room); err == nil {
		return "internal/" + room
	}
	return room
}

// banned are calls whose result differs between machines, runs or Go releases.
var banned = map[string]string{
	"time.Now": "time is passed in", "time.Since": "time is passed in",
	"os.Hostname": "the environment is porcelain's", "os.Getenv": "the environment is porcelain's", "os.LookupEnv": "the environment is porcelain's",
	"math.Log": "not the same on every CPU", "math.Log2": "not the same on every CPU",
	"math.Log10": "not the same on every CPU", "math.Log1p": "not the same on every CPU",
	"math.Exp": "not the same on every CPU", "math.Expm1": "not the same on every CPU",
	"math.Pow": "not the same on every CPU", "math.Tanh": "not the same on every CPU",
	"math.Sin": "not the same on every CPU", "math.FMA": "slow where it is software",
	"fmt.Print": "plumbing never prints", "fmt.Println": "plumbing never prints",
	"fmt.Printf": "plumbing never prints", "os.Exit": "plumbing never exits",
}

type source struct {
	path  string // slash-separated, from the root
	lines int
	file  *ast.File
	fset  *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	must.OK(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, data, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all = append(all, source{filepath.ToSlash(rel), strings.Count(string(data), "\n"), file, fset})
		return err
	}))
	must.Require(t, len(all) >= 50, "only %d files found", len(all))
	return all
}

func TestFilesAndFunctionsStayShort(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) {
			continue
		}
		limit := maxFile
		if strings.HasSuffix(s.path, "_test.go") {
			limit = maxTestFile
		}
		must.Check(t, s.lines <= limit, "%s has %d lines, limit %d", s.path, s.lines, limit)
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || strings.Contains(fn.Doc.Text(), reasonMarker) {
				continue
			}
			lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			must.Check(t, lines <= maxFunction,
				"%s: %s has %d lines, limit %d", s.path, fn.Name.Name, lines, maxFunction)
		}
	}
}

func TestPlumbingIsPure(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") || !isPlumbing(s.path) {
			continue
		}
		for _, imp := range s.file.Imports {
			must.Check(t, !strings.HasPrefix(imp.Path.Value, `"math/rand`),
				"%s imports %s: randomness is passed in", s.path, imp.Path.Value)
			must.Check(t, imp.Path.Value != `"unicode"`,
				"%s imports unicode, whose tables change with releases of Go: internal/base/text has its own", s.path)
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			if why, bad := banned[pkg.Name+"."+sel.Sel.Name]; bad {
				t.Errorf("%s: %s.%s: %s", s.fset.Position(sel.Pos()), pkg.Name, sel.Sel.Name, why)
			}
			return true
		})
	}
}

// integral are packages that compute vectors, the same on every machine: without a number that is rounded.
var integral = []string{"internal/model/bert", "internal/model/minilm", "internal/model/minilm/dot", "internal/model/minilm/weights"}

// TestVectorsAreIntegral finds floats where vectors are computed.
func TestVectorsAreIntegral(t *testing.T) {
	files := 0
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") || !slices.Contains(integral, filepath.ToSlash(filepath.Dir(s.path))) {
			continue
		}
		files++
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, n.Name) {
					t.Errorf("%s: %s", s.fset.Position(n.Pos()), n.Name)
				}
			case *ast.BasicLit:
				if n.Kind == token.FLOAT || n.Kind == token.IMAG || n.Value == `"math"` {
					t.Errorf("%s: %s", s.fset.Position(n.Pos()), n.Value)
				}
			}
			return true
		})
	}
	must.Check(t, files >= 2*len(integral), "only %d files", files)
}

// isPlumbing reports whether a file is of plumbing.
func isPlumbing(path string) bool {
	return slices.Contains(plumbingOnce(), filepath.ToSlash(filepath.Dir(path)))
}

var plumbingOnce = sync.OnceValue(plumbing)

package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root         = "../.."
	maxFile      = 600 // lines
	maxTestFile  = 900
	maxFunction  = 100
	reasonMarker = "long because" // in the doc comment of a function over maxFunction
)

// plumbing is where the clock, randomness, the environment and inexact functions are out of reach.
var plumbing = []string{
	"ipld", "internal/block/car", "graph", "internal/guard", "internal/block/prolly", "commit", "adjacency", "internal/block/store", "internal/view/index", "retrieve", "repo",
	"internal/view/community", "internal/view/segment", "internal/view/dense", "internal/view/links", "internal/memory", "internal/ingest", "internal/base/cache", "internal/base/dates", "internal/base/fixed", "internal/base/heap",
	"internal/base/parallel", "internal/base/text",
}

// banned are calls whose result differs between machines, runs or Go releases.
var banned = map[string]string{
	"time.Now": "time is passed in", "time.Since": "time is passed in",
	"os.Getenv": "the environment is porcelain's", "os.LookupEnv": "the environment is porcelain's",
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
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
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
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found", len(all))
	}
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
		if s.lines > limit {
			t.Errorf("%s has %d lines, limit %d", s.path, s.lines, limit)
		}
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || strings.Contains(fn.Doc.Text(), reasonMarker) {
				continue
			}
			lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			if lines > maxFunction {
				t.Errorf("%s: %s has %d lines, limit %d", s.path, fn.Name.Name, lines, maxFunction)
			}
		}
	}
}

func TestPlumbingIsPure(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") || !isPlumbing(s.path) {
			continue
		}
		for _, imp := range s.file.Imports {
			if strings.HasPrefix(imp.Path.Value, `"math/rand`) {
				t.Errorf("%s imports %s: randomness is passed in", s.path, imp.Path.Value)
			}
			if imp.Path.Value == `"unicode"` {
				t.Errorf("%s imports unicode, whose tables change with releases of Go: internal/base/text has its own", s.path)
			}
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

func isPlumbing(path string) bool {
	if strings.HasPrefix(path, "internal/base/text/gen/") || strings.HasPrefix(path, "internal/block/store/storetest/") {
		return false
	}
	for _, dir := range plumbing {
		if strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

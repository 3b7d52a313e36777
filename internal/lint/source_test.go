package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
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

// named yields the names of other packages that a file uses, as PACKAGE.NAME, and where.
func (s *source) named() iter.Seq2[string, token.Pos] {
	return func(yield func(string, token.Pos) bool) {
		for n := range ast.Preorder(s.file) {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && !yield(pkg.Name+"."+sel.Sel.Name, sel.Pos()) {
					return
				}
			}
		}
	}
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
		must.True(t, s.lines <= limit, "%s has %d lines, limit %d", s.path, s.lines, limit)
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || strings.Contains(fn.Doc.Text(), reasonMarker) {
				continue
			}
			lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			must.True(t, lines <= maxFunction,
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
			must.True(t, !strings.HasPrefix(imp.Path.Value, `"math/rand`),
				"%s imports %s: randomness is passed in", s.path, imp.Path.Value)
			must.True(t, imp.Path.Value != `"unicode"`,
				"%s imports unicode, whose tables change with releases of Go: internal/base/text has its own", s.path)
		}
		for name, at := range s.named() {
			if why, bad := banned[name]; bad {
				t.Errorf("%s: %s: %s", s.fset.Position(at), name, why)
			}
		}
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
	must.True(t, files >= 2*len(integral), "only %d files", files)
}

// isPlumbing reports whether a file is of plumbing.
func isPlumbing(path string) bool {
	return slices.Contains(plumbingOnce(), filepath.ToSlash(filepath.Dir(path)))
}

var plumbingOnce = sync.OnceValue(plumbing)

// TestArchitecturePage holds the table of floors in docs/internals/architecture.md to those that imports are held to.
func TestArchitecturePage(t *testing.T) {
	page := must.Get(os.ReadFile(root + "/docs/internals/architecture.md"))(t)
	var rows []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); strings.HasPrefix(line, "| ") && len(cells) == 3 {
			rows = append(rows, cells[0]+": "+cells[2])
		}
	}
	all := strings.Join(rows, "\n") + "\n"
	for _, f := range floors {
		must.True(t, f.why == "" || strings.Contains(all, f.name+": "+f.why+"\n"),
			"docs/internals/architecture.md lacks the floor %s, with %q", f.name, f.why)
	}
	for _, f := range floors {
		for name := range strings.FieldsSeq(f.rooms) {
			if family, _, _ := strings.Cut(name, "/"); !strings.Contains(string(page), family) {
				t.Errorf("docs/internals/architecture.md names nothing of %s", family)
			}
		}
	}
}

// pages returns the pages of all shelves of the docs.
func pages(t *testing.T) []string {
	var all []string
	for _, shelf := range []string{"", "reference", "internals"} {
		found, err := filepath.Glob(filepath.Join(root, "docs", shelf, "*.md"))
		must.Require(t, err == nil && len(found) != 0, "%v %v %v", shelf, found, err)
		all = append(all, found...)
	}
	return all
}

// treePath is the path of a file or folder of this tree, as pages name it.
var treePath = regexp.MustCompile(`(?m)(?:^|[^\w/.-])((?:internal|cmd|web|testdata|spec|conformance|deploy)/[\w./-]*\w)`)

// shortPath is the path of a file that docs/internals/architecture.md names without its first folder.
var shortPath = regexp.MustCompile("`([a-z_0-9]+(?:/[a-z_0-9]+)+\\.(?:go|tsx?))`")

// TestPathsExist looks up every path of this tree that the pages and NOTICE name.
func TestPathsExist(t *testing.T) {
	found := 0
	look := func(page string, paths *regexp.Regexp, under ...string) {
		for _, m := range paths.FindAllStringSubmatch(string(must.Get(os.ReadFile(page))(t)), -1) {
			found++
			must.True(t, slices.ContainsFunc(under, func(dir string) bool {
				return must.Err(os.Stat(filepath.Join(root, dir, filepath.FromSlash(m[1])))) == nil
			}), "%s names %s, which does not exist", page, m[1])
		}
	}
	for _, page := range append(pages(t), root+"/README.md", root+"/NOTICE", root+"/spec/SPEC.md") {
		look(page, treePath, "")
	}
	look(root+"/docs/internals/architecture.md", shortPath, "", "internal")
	must.True(t, found >= 80, "%d paths", found)
}

// opening are calls that wait if a path leads to a named pipe.
var opening = map[string]bool{
	"os.Open": true, "os.ReadFile": true, "os.OpenRoot": true, "os.DirFS": true, "os.OpenFile": true, "os.WriteFile": true,
}

// mayOpen are files and directories that may call them, with the reason. Others open with base/regular.
var mayOpen = map[string]string{
	"internal/base/regular/":               "the one place",
	"internal/testkit/":                    "tests alone",
	"internal/base/text/gen/":              "a generator, for files of this module",
	"internal/base/zones/gen/":             "a generator, for files of this module",
	"internal/lint/house/":                 "a program for files of this module",
	"web/build/":                           "a generator, for files of this module",
	"docs/site/":                           "a program for files of this module",
	"conformance/":                         "a program for files of this module",
	"release/":                             "a program for files of this module",
	"internal/door/cli/man/":               "a generator, which writes a new directory",
	"internal/bench/":                      "a program of its own, which holds no memory of a user",
	"internal/block/store/pebble/":         "files of the store, which it makes",
	"internal/base/queue/":                 "a file of the store's lock",
	"internal/base/filestate/":             "locks, directories and new files of its own, made exclusively",
	"internal/owner/":                      "a new file of its own, made exclusively",
	"internal/exchange/remote/transfer.go": "a file of its own, of what came so far",
	"internal/door/serve/upload.go":        "files of its own, under random names",
	"internal/agent/capture/spool.go":      "its own directory, to sync it",
	"internal/agent/capture/told.go":       "opened with regular.NoWait",
	"internal/door/line/input.go":          "descriptors, opened with regular.NoWait",
	"internal/door/line/out.go":            "an output, opened with regular.NoWait",
	"internal/door/serving/view.go":        "a new file of its own",
	"internal/door/cli/demo.go":            "new files, in a directory that is empty",
}

// TestPathsOfUsersAreOpenedWithoutWaiting finds calls that could wait for another program, and exceptions that none needs.
func TestPathsOfUsersAreOpenedWithoutWaiting(t *testing.T) {
	used := make(map[string]bool)
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		for name, pos := range s.named() {
			may := !opening[name]
			for at := range mayOpen {
				if !may && strings.HasPrefix(s.path, at) {
					used[at], may = true, true
				}
			}
			must.True(t, may, "%s: %s waits for the other end of a named pipe: open with internal/base/regular", s.fset.Position(pos), name)
		}
	}
	for at := range mayOpen {
		must.True(t, used[at], "%s needs no exception", at)
	}
}

// TestNothingIsCompiledAtStart keeps what every process would pay for out of the variables of packages: a regular
// expression there is compiled before main runs, internal/base/pattern compiles it when it is used.
func TestNothingIsCompiledAtStart(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") || strings.HasPrefix(s.path, "conformance/") {
			continue
		}
		for _, d := range s.file.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			ast.Inspect(vars, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					_, later := n.(*ast.FuncLit)
					return !later
				}
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "MustCompile" {
					t.Errorf("%s: use internal/base/pattern", s.fset.Position(call.Pos()))
				}
				return true
			})
		}
	}
}

// Command house measures the program's own size and shape: lines, packages, types, the public surface, comments,
// commands and flags. It prints one row a measure, with the bound that the row is held to.
//
//	go run ./internal/lint/house
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// A row is one measure.
type row struct {
	what  string
	found string
	aim   string
}

// A folder is one directory of Go files.
type folder struct {
	lines, tests int
	methods      map[string]int // by receiver
	fields       map[string]int // by struct
	exported     int            // names and methods
}

type house struct {
	fset                                         *token.FileSet
	folders                                      map[string]*folder
	product, generated, tools, tests, conforming int
	comments, where                              int
	types                                        map[string]map[string]bool // packages that declare a type, by its name
}

func main() {
	h := &house{fset: token.NewFileSet(), folders: map[string]*folder{}, types: map[string]map[string]bool{}}
	if err := h.read(); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	commands, err := commandRows()
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	for _, r := range append(h.rows(), commands...) {
		fmt.Printf("| %s | %s | %s |\n", r.what, r.found, r.aim)
	}
}

// read parses every Go file that git tracks. It fails if there is none.
func (h *house) read() error {
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	names := strings.Fields(string(out))
	if len(names) == 0 {
		return fmt.Errorf("no Go files here: run it in the root of a checkout")
	}
	for _, name := range names {
		if err := h.file(name); err != nil {
			return err
		}
	}
	return nil
}

// tool matches the files of programs that no user runs: they make files of the tree, or measure it.
var tool = pattern.New(`^(internal/lint|web/build|internal/door/cli/man)/|/gen/`)

func (h *house) file(name string) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := bytes.Count(src, []byte("\n"))
	dir := path.Dir(name)
	test := strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testkit/")
	if bytes.HasPrefix(src, []byte("// Code generated")) {
		h.generated += lines
	}
	switch {
	case strings.HasPrefix(name, "conformance/"):
		h.conforming += lines
		return nil
	case test:
		h.tests += lines
	case tool().MatchString(name):
		h.tools += lines
	default:
		h.product += lines
	}
	f := h.folders[dir]
	if f == nil {
		f = &folder{methods: map[string]int{}, fields: map[string]int{}}
		h.folders[dir] = f
	}
	if test {
		f.tests += lines
		return nil
	}
	f.lines += lines
	tree, err := parser.ParseFile(h.fset, name, src, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, c := range tree.Comments {
		h.comments++
		words := strings.FieldsFunc(c.Text(), func(r rune) bool { return !unicode.IsLetter(r) })
		if slices.Contains(words, "where") || slices.Contains(words, "Where") {
			h.where++
		}
	}
	for _, d := range tree.Decls {
		h.declaration(f, dir, d)
	}
	return nil
}

func (h *house) declaration(f *folder, dir string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			f.count(d.Name)
			return
		}
		recv := receiver(d.Recv.List[0].Type)
		f.methods[recv]++
		if ast.IsExported(recv) {
			f.count(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				f.count(s.Name)
				if h.types[s.Name.Name] == nil {
					h.types[s.Name.Name] = map[string]bool{}
				}
				h.types[s.Name.Name][dir] = true
				if st, ok := s.Type.(*ast.StructType); ok {
					for _, field := range st.Fields.List {
						f.fields[s.Name.Name] += max(1, len(field.Names))
					}
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					f.count(n)
				}
			}
		}
	}
}

func (f *folder) count(name *ast.Ident) {
	if name.IsExported() {
		f.exported++
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// public is whether other modules may import a folder. Programs in modules of their own export nothing.
func public(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	if top == "docs" || top == "release" || strings.HasPrefix(dir, "web/") {
		return false
	}
	for _, part := range strings.Split(dir, "/") {
		switch part {
		case "internal", "testdata", "cmd", ".":
			return false
		}
	}
	return true
}

func (h *house) rows() []row {
	var largest, most, wide string
	lines, methods, fields := 0, 0, 0
	packages, exported, inRepo := 0, 0, 0
	tops := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(h.folders)) {
		f := h.folders[dir]
		if f.lines > lines {
			largest, lines = dir, f.lines
		}
		for name, n := range f.methods {
			if n > methods || n == methods && dir+"."+name < most {
				most, methods = dir+"."+name, n
			}
		}
		for name, n := range f.fields {
			if n > fields || n == fields && dir+"."+name < wide {
				wide, fields = dir+"."+name, n
			}
		}
		if public(dir) && f.lines > 0 {
			packages++
			exported += f.exported
			if dir == "repo" {
				inRepo = f.exported
			}
		}
	}
	entries, _ := os.ReadDir(".") // none are counted as none
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			tops[e.Name()] = true
		}
	}
	shared, name := 0, ""
	for _, n := range slices.Sorted(maps.Keys(h.types)) {
		if len(h.types[n]) > shared {
			shared, name = len(h.types[n]), n
		}
	}
	return []row{
		{"product lines without tests and conformance", fmt.Sprintf("%d (%d of them generated)", h.product, h.generated), "140000"},
		{"lines of tools that make files of the tree or measure it", fmt.Sprint(h.tools), ""},
		{"conformance lines", fmt.Sprint(h.conforming), "9000"},
		{"lines of tests", fmt.Sprint(h.tests), "85000"},
		{"largest package", fmt.Sprintf("%d (%s)", lines, largest), "8000"},
		{"most methods of a type", fmt.Sprintf("%d (%s)", methods, most), "60"},
		{"most fields of a struct", fmt.Sprintf("%d (%s)", fields, wide), "35"},
		{"public packages", fmt.Sprint(packages), "9"},
		{"exported names and methods in them", fmt.Sprint(exported), "950"},
		{"exported names and methods of repo", fmt.Sprint(inRepo), "150"},
		{"folders at the top", fmt.Sprint(len(tops)), "17"},
		{"comments that say where", fmt.Sprintf("%d of %d, %.1f%%", h.where, h.comments, 100*float64(h.where)/float64(max(1, h.comments))), "3%"},
		{"packages that declare the most repeated type name", fmt.Sprintf("%d (%s)", shared, name), "4"},
	}
}

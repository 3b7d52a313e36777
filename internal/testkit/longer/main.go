// Longer prints the tests that do more in a long run: an expression for go test -run, and the packages. These are the
// tests from which effort.Pick or effort.Long can be reached through functions in the tests of their package. The other
// tests do the same in both kinds of run. The analysis follows names, not types, so it may list a test too many.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	names, packages, err := longer(".")
	if err != nil || len(names) == 0 {
		fmt.Fprintln(os.Stderr, "no tests found:", err)
		os.Exit(1)
	}
	fmt.Printf("^(%s)$\n%s\n", strings.Join(names, "|"), strings.Join(packages, " "))
}

// longer returns the tests below a directory that do more in a long run, and the packages they are in.
func longer(root string) (names, packages []string, err error) {
	dirs := map[string]uses{}
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if dirs[dir] == nil {
			dirs[dir] = uses{}
		}
		dirs[dir].add(file)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if found := dirs[dir].longer(); len(found) > 0 {
			names, packages = append(names, found...), append(packages, "./"+dir)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), packages, nil
}

// longs stands for a use of effort.Pick or effort.Long.
const longs = "effort.Pick or Long"

// uses lists the names used by each function, method, variable, constant and type in a package's tests. The name of a
// method begins with a dot.
type uses map[string][]string

func (u uses) add(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil { // others may call it by an interface
				name = "." + name
				for _, of := range used(d.Recv) {
					u[of] = append(u[of], name)
				}
			}
			u[name] = append(u[name], used(d)...)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						u[name.Name] = append(u[name.Name], used(s)...)
					}
				case *ast.TypeSpec:
					u[s.Name.Name] = append(u[s.Name.Name], used(s)...)
				}
			}
		}
	}
}

// used returns the names in a part of a program.
func used(n ast.Node) []string {
	var names []string
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			names = append(names, "."+n.Sel.Name)
			of, ok := n.X.(*ast.Ident)
			if ok && of.Name == "effort" && (n.Sel.Name == "Pick" || n.Sel.Name == "Long") {
				names = append(names, longs)
			}
			names = append(names, used(n.X)...)
			return false
		case *ast.Ident:
			names = append(names, n.Name)
		}
		return true
	})
	return names
}

// longer returns the tests of a package from which effort.Pick or effort.Long is reached.
func (u uses) longer() []string {
	var tests []string
	for name := range u {
		reached := map[string]bool{}
		if u.reach(name, reached); strings.HasPrefix(name, "Test") && reached[longs] {
			tests = append(tests, name)
		}
	}
	return tests
}

func (u uses) reach(name string, reached map[string]bool) {
	if reached[name] {
		return
	}
	reached[name] = true
	for _, next := range u[name] {
		u.reach(next, reached)
	}
}

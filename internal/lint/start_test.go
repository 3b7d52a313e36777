package lint

import (
	"go/ast"
	"strings"
	"testing"
)

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

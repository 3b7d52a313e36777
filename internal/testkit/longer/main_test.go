package main

import (
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestLonger: a test is found by what it asks itself, by a function, a variable, or a method that only others call.
func TestLonger(t *testing.T) {
	const source = `package p
var size = effort.Pick(1, 2, 3)
var other = 4
type model struct{}
func (m *model) Check() { effort.Long(nil) }
func helper() { deeper() }
func deeper() { if other > 0 { helper() }; effort.Pick(1, 2, 3) }
func TestDirect(t *testing.T) { effort.Long(t) }
func TestHelper(t *testing.T) { t.Run("x", func(t *testing.T) { helper() }) }
func TestVariable(t *testing.T) { use(size) }
func TestMethod(t *testing.T) { rapid.Run(&model{}) }
func TestSame(t *testing.T) { effort.Alone(t); use(other) }
func BenchmarkNone(b *testing.B) { effort.Long(b) }
`
	file, err := parser.ParseFile(token.NewFileSet(), "p_test.go", source, 0)
	must.OK(t, err)
	u := uses{}
	u.add(file)
	got := u.longer()
	slices.Sort(got)
	want := []string{"TestDirect", "TestHelper", "TestMethod", "TestVariable"}
	must.True(t, slices.Equal(got, want), "longer tests: %v, want %v", got, want)
}

// TestHere finds the longer tests of this tree.
func TestHere(t *testing.T) {
	names, packages, err := longer("../../..")
	must.OK(t, err)
	must.True(t, slices.Contains(names, "TestCrash") && !slices.Contains(names, "TestHere"), "longer tests: %v", names)
	must.True(t, slices.Contains(packages, "./../../../internal/core"), "packages of longer tests: %v", packages)
}

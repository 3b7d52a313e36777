// Package must ends a test at an error that it does not expect.
package must

// T is a test, a benchmark or a property test.
type T interface {
	Helper()
	Fatal(args ...any)
}

// OK ends the test if there is an error.
func OK(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

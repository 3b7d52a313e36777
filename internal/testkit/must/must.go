// Package must checks the errors of a test.
package must

import (
	"errors"
	"fmt"
)

// T is a test, a benchmark or a property test.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// OK ends the test if there is an error.
func OK(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Fail fails the test, and lets it go on, if an error is not the wanted one. What names the case.
func Fail(t T, err, want error, what ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		label := ""
		if len(what) > 0 {
			label = fmt.Sprint(what...) + ": "
		}
		t.Errorf("%serror %v, want %v", label, err, want)
	}
}

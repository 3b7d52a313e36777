// Package must checks the errors and results of a test. What names the case comes last and is put
// together as by [fmt.Sprint]; [True] and [Require] take a format.
package must

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/testkit/differ"
)

// T is a test, a benchmark or a property test.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// OK ends the test if there is an error.
func OK(t T, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(label(what) + err.Error())
	}
}

// Get takes the results of a call, and returns a function that returns the value, or ends the test if there is an error:
// must.Get(f())(t).
func Get[V any](v V, err error) func(t T, what ...any) V {
	return func(t T, what ...any) V {
		t.Helper()
		OK(t, err, what...)
		return v
	}
}

// Err returns the error of a call that also returns a value: must.Fail(t, must.Err(f()), want).
func Err[V any](_ V, err error) error { return err }

// Fail fails the test, and lets it go on, if an error is not the wanted one.
func Fail(t T, err, want error, what ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%serror %v, want %v", label(what), err, want)
	}
}

// Equal fails the test, and lets it go on, if a value is not the wanted one.
func Equal[V comparable](t T, got, want V, what ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%sgot %s, want %s", label(what), show(got), show(want))
	}
}

// True fails the test, and lets it go on, if a condition does not hold. The arguments are evaluated in any case.
func True(t T, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Contain fails the test, and lets it go on, if a text lacks a part.
func Contain(t T, text, part string, what ...any) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s%q is not in %s", label(what), part, text)
	}
}

// Require ends the test if a condition does not hold.
func Require(t T, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatal(fmt.Sprintf(format, args...))
	}
}

// Same fails the test, and lets it go on, if [differ.Diff] finds a difference from what is wanted.
func Same(t T, got, want any, what ...any) {
	t.Helper()
	if diff := differ.Diff(want, got); diff != "" {
		t.Errorf("%s(-want +got)\n%s", label(what), diff)
	}
}

func label(what []any) string {
	if len(what) == 0 {
		return ""
	}
	for i, part := range what {
		if b, ok := part.([]byte); ok {
			what[i] = string(b)
		}
	}
	return fmt.Sprint(what...) + ": "
}

// show writes strings in quotes, and texts of several lines as they are.
func show(v any) string {
	s, ok := v.(string)
	if ok && !strings.Contains(s, "\n") {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%+v", v)
}

package line

import (
	"cmp"

	"github.com/mnem-project/mnem/internal/base/plain"
)

// OneLine makes text that users wrote safe to print: one line, nothing invisible.
func OneLine(s string) string { return plain.Line(s) }

// Plural is "1 node", "2 nodes".
func Plural(n int, what string) string { return plain.Plural(n, what) }

// OrNull is nil, JSON's null, for the empty string.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// CheckRange returns a usage error unless low <= n <= high.
func CheckRange(flag string, n, low, high int) error {
	if n < low || n > high {
		return Usagef("--%s: %d is outside %d to %d", flag, n, low, high)
	}
	return nil
}

// FirstOf returns the first text that is not empty.
func FirstOf(values ...string) string { return cmp.Or(values...) }

// FirstError returns the first error that is one.
func FirstError(errs ...error) error { return cmp.Or(errs...) }

package cli

import (
	"cmp"

	"github.com/mnem-project/mnem/internal/base/plain"
)

// line makes text that users wrote safe to print: one line, nothing invisible.
func line(s string) string { return plain.Line(s) }

// plural is "1 node", "2 nodes".
func plural(n int, what string) string { return plain.Plural(n, what) }

// orNull is nil, JSON's null, for the empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// checkRange returns a usage error unless low <= n <= high.
func checkRange(flag string, n, low, high int) error {
	if n < low || n > high {
		return usagef("--%s: %d is outside %d to %d", flag, n, low, high)
	}
	return nil
}

// firstOf returns the first text that is not empty.
func firstOf(values ...string) string { return cmp.Or(values...) }

// firstError returns the first error that is one.
func firstError(errs ...error) error { return cmp.Or(errs...) }

// Package pattern compiles regular expressions on first use, so that a process does not pay at startup for
// expressions that it does not need.
package pattern

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression, which must be valid. Safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

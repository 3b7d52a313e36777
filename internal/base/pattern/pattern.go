// Package pattern keeps regular expressions uncompiled until they are first used: a process that needs none
// does not pay for those of all packages when it starts.
package pattern

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression, which must be valid. Safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

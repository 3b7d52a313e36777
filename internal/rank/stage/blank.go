package stage

import (
	"strings"
)

// trimBlank cuts the white space that clause 8.4 names: a fixed set, whatever Unicode adds.
func trimBlank(s string) string { return strings.Trim(s, " \t\r\n") }

// isBlank reports whether a text is only white space.
func isBlank(s string) bool { return trimBlank(s) == "" }

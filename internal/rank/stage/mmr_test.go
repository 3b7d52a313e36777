package stage

import (
	"slices"
)

// likeness is the similarity in Q16 of two sets; b has each number once.
func likeness(a, b []uint32) int64 {
	both := 0
	for _, term := range a {
		if slices.Contains(b, term) {
			both++
		}
	}
	if len(a)+len(b) == 0 {
		return 0
	}
	return int64(both * 65_536 / (len(a) + len(b) - both))
}

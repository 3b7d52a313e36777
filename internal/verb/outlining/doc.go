// Package outlining has the verbs of the map of a memory and of its digests.
package outlining

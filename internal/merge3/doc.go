// Package merge3 merges two states with a common base, field by field, as clause 14 of the specification says. The
// result depends only on the three states.
package merge3

// Package merge3 merges two states that were made from a third, field by field, as clause 14 of the specification says.
// It is a function of the three.
package merge3

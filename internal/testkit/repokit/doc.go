// Package repokit has what the tests of the packages below repo share: memories, models of them, counted stores and
// checks. Tests only.
package repokit

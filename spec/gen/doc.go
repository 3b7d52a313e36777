// Command gen writes the conformance vectors of mnem, from the text of SPEC.md alone.
//
// It is a second implementation: slow, naive and separate on purpose. It imports the standard
// library and, for the stemmer, snowballstem, and nothing of this module, so that a mistake in
// a package cannot hide itself in the vector that should have caught it.
//
//	go run ./spec/gen -o spec/vectors          write all vectors
//	go run ./spec/gen -o spec/vectors -check   compare with the files on disk, write nothing
//
// Output is a function of this source: no clock, no randomness, no map order.
package main

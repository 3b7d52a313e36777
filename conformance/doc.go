// Command conformance writes the conformance vectors of mnem, from the text of the specification alone.
//
// It is a second implementation of formats, changes, merges and receipts: slow, naive and separate on
// purpose. It is a module of its own that imports the standard library and nothing of mnem, so that a
// mistake in a package cannot hide itself in the vector that should have caught it. Ranking has none:
// golden files of the packages freeze it.
//
//	go -C conformance run .          write all vectors to spec/vectors, and the generated parts of spec/mnem.ipldsch
//	go -C conformance run . -check   compare with the files on disk, write nothing
//
// Output is a function of this source: no clock, no randomness, no map order.
package main

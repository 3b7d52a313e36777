// Package storetest holds the conformance suite that every implementation of store.Store runs, and Counting, with
// which tests of other packages bound their reads and writes.
package storetest

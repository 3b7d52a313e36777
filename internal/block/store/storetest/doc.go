// Package storetest holds the conformance suite that every implementation of store.Store runs,
// and Counting, with which other packages' tests bound how much they read and write.
package storetest

// Package store defines stores of blocks by CID and of the one mutable cell of a repository, the operation head.
// Package storetest holds the conformance suite that every implementation runs.
package store

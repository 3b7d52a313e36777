// Package store keeps blocks under their CIDs and the one mutable cell of a repository, the
// operation head. Package storetest holds the conformance suite that every implementation runs.
package store

// Package outline stores the digests of a graph and its communities. They are derived data: computed from a snapshot,
// updated with its changes, and stored until they are collected. Texts of digests that models wrote are facts, in
// commits.
package outline

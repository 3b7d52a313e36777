// Package outline keeps the digests of a graph and its communities: made from a snapshot, edited with its changes, and
// kept beside the facts until they are collected. Texts of digests that models wrote are facts, in commits.
package outline

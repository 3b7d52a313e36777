// Package state defines the states of a memory: the six trees of a graph, its embeddings and profiles, batches of
// changes to them, and differences between two states. It opens no repository and moves no ref.
package state

// Package state has the states of a memory: the six trees of a graph, its embeddings and profiles, batches of changes
// that edit them, and what differs between two of them. It opens no repository and moves no ref.
package state

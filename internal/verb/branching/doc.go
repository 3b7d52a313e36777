// Package branching has the verbs of branches and commits: what there is, what happened, what differs; merges, and
// operations that are undone.
package branching

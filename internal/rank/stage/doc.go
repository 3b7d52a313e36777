// Package stage answers requests: it filters, ranks, expands, packs and renders the nodes of one immutable commit, one
// stage after the other.
//
// All ranked values are integers and every order is total: tier descending, score descending, id ascending. The package
// starts no goroutines. Golden files of package rank freeze the answers.
//
// # Likeness
//
// The likeness of two nodes is the share of common terms in their texts. Diversification weighs it against relevance. A
// node repeats an item only if nine tenths are common and nothing differs that may change the meaning: type, state,
// validity, a property, or the telling words, which are numbers, names and negations. When in doubt both are shown. The
// package knows no synonyms, nor that "on" is not "off".
//
// # Cost
//
// The reads of a retrieval grow with the nodes it ranks, not with the size of the memory. Expansion reads most: two
// buckets of up to 128 nodes a round and the number of edges of each node that a lane found, that may contribute in the
// next round, or that may join. Bounds that need no reads select these nodes; contributions to any other node are never
// computed. Links that were read are kept until the answer, at most about 1,500 a round.
package stage

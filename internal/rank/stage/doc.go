// Package stage answers requests: it filters, ranks, expands, packs and renders the nodes of one immutable commit, one
// stage after the other.
//
// Everything ranked is an integer and every order is total: tier descending, score descending, id ascending. It starts
// no goroutines. Golden files of package rank freeze the answers.
//
// # Likeness
//
// Two nodes are alike to the share of the terms of their texts that both have. Diversification weighs it against
// relevance. A node repeats an item only if nine tenths are shared and nothing differs that may change what is said:
// type, state, validity, a property, or the telling words, which are numbers, names and negations. When in doubt both
// are shown. Nothing here knows synonyms, or that "on" is not "off".
//
// # Cost
//
// What a retrieval reads follows what it ranks, not the size of the memory. Expansion reads most: two buckets of up to
// 128 nodes a round, and, for each node that a lane found and for those that may lend in the next round or join, how
// many edges it has. Which these are is known from bounds that need no reading; what any other node is lent is never
// worked out. It keeps the links that it looked at, at most about 1,500 a round, until the answer.
package stage

// Package source has what ranking reads: a graph and an index behind small interfaces, so that it can be tested and
// replayed without a store, the filter of a request over both, and the links that texts make.
//
// An Index that has embeddings is one of Vectors too, and of SparseVectors for sparse ones; a Graph that knows its
// communities is one of Grouped, one that knows its digests of Digested.
package source

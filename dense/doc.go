// Package dense answers queries by dense vectors about one tree of embeddings from segments:
// immutable, content-addressed blocks that are a pure function of the tree and can be rebuilt at
// will.
package dense

// Package minilm computes vectors of texts with all-MiniLM-L6-v2 in integers. It is a sentence model of six layers.
// Every operation is exact, so a text always has the same vector, on every processor, by every kernel and in any batch.
// It reads a file that package weights carries, and uses no network.
//
// docs/internals/model.md describes the computation: formats, scales, rounding and limits. make/quantise.py writes the
// file from the published weights; make/reference.py is the same forward pass in numpy, which made the vectors of
// testdata.
//
// Only the products of matrices use vector instructions, in package dot. A text beyond 128 pieces is ignored.
package minilm

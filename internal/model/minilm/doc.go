// Package minilm makes vectors of texts by all-MiniLM-L6-v2 in integers: a sentence model of six layers, whose every
// operation is exact, so that a text has the same vector on every processor, by every kernel, beside any other texts and
// for ever. It reads a file, which package weights carries, and asks nobody.
//
// docs/internals/model.md says what is computed: formats, scales, rounding and limits. make/quantise.py writes the file from the
// published weights; make/reference.py is the same forward pass in numpy, from which the vectors of testdata come.
//
// Only the products of matrices use instructions for vectors, in package dot. All of a text beyond 128 pieces is not read.
package minilm

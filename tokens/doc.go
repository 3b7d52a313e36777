// Package tokens counts the tokens of texts as two public vocabularies of byte pair encoding do:
// cl100k_base and o200k_base. Counts are exact, of ordinary text: the names of special tokens count
// as the characters that they are made of.
//
// A text is divided by the pattern of the encoding (clause 11.7 of docs/ranking.md), by
// the properties of characters in Unicode 15.0.0. A piece that is a token counts 1. Any other is
// merged byte by byte: of the neighbours that together are a token, those with the lowest rank,
// of equal ones the first, until none are.
//
// The vocabularies are those of github.com/tiktoken-go/tokenizer, which tests compare with; package
// gen packs them. Only they are taken from it: v0.10.0 divides "\n\t\n" into two pieces where the
// pattern has one, and takes time of the square of the length for such texts. Here a count takes
// O(n log n) for every text of n bytes.
//
// common.txt has the words that are among the first tokens of o200k_base, for CommonnessOf; it is made by
// go test ./tokens -run TestCommon -rewrite.
//
// A vocabulary is unpacked when its first text is counted: some 10 MB of memory. A program that
// counts nothing pays nothing. Counters are safe for concurrent use.
package tokens

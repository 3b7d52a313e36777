// Package parse reads documents: bytes become headings and blocks, and blocks become chunks. It sees no repository, no
// file and no clock, takes time proportional to its input whatever that is, and panics on none.
//
//	Document   a title, front matter, sections in their order, blocks in their order
//	Section    a heading: the blocks below it, up to the next heading, belong to it; or a declaration of a
//	           source file
//	Block      a paragraph, list item, table or fence: what is not divided unless it is long
//	Chunk      neighbouring blocks of one section, 200 to 400 tokens where it has that many
//
// Every line of a document that is not blank is in one block, or is a heading or front matter.
//
// Markdown is cut into blocks by a scanner of lines and not by a parser of the whole grammar: chunks need the places of
// headings, fences and blank lines alone, and a scanner has neither a depth to exhaust nor a worst case.
package parse

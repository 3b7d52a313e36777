// Package ingest keeps files in a memory: package parse turns documents into nodes and edges, and a later version of a
// file becomes the smallest possible change of these.
//
//	Collection   all files of one directory of a machine; key files: or files:PROJECT
//	Document     one file, named by its path; key doc/HEX. HEX is set at its first ingest and stays through
//	             renames
//	Section      one heading of it, named by its place; key doc/HEX/SLUGS
//	Chunk        200 to 400 tokens of a section; key doc/HEX#SLUG/8HEX, of its first heading and text
//
// The first three describe structure; the text is in the chunks, and only chunks are items of an answer. The first
// chunk of a document has the title as its summary and the text as its content, so that a query with the title finds
// the text. Another chunk's summary is its text. The front matter of a note is a part of its first chunk, and each of
// its fields is a property of the document.
//
//	part-of      Chunk to Section or Document, Section to Section or Document, Document to Collection
//	next         Chunk to the one that follows it in its document
//	links-to     Chunk to the Document that a link in it leads to
//	imports      Chunk to the Document that stands for a package which its file imports
//	defines      Document of a source file to the Section of a declaration
//
// # Identity
//
// A document is identified by its path. A file at a new path takes over the document of a missing path if half of their
// chunks are equal, as git finds renames. A chunk keeps its key while it is aligned with a chunk of the new version:
// first by the longest common subsequence of equal texts, then by equal texts that moved, then by texts under the same
// heading that share half of their words. So keys depend on the history of a file, but nothing stored depends on the
// clock.
//
// A chunk's source has the lines that the chunk had when its text last changed: 'mnem review sources' finds lines that
// moved since.
//
// # Division of work
//
// This package reads a snapshot and computes changes to it; package ingesting walks directories, reads files and
// commits. This package never reads the clock, randomness or the environment.
package ingest

// Package ingest keeps files in a memory: documents as they are parsed by package parse become nodes and
// edges, and a later version of a file becomes the least change of these.
//
//	Collection   all files of one directory of a machine; key files: or files:PROJECT
//	Document     one file, named by its path; key doc/HEX, where HEX is decided at its first ingest and stays
//	             through renames
//	Section      one heading of it, named by its place; key doc/HEX/SLUGS
//	Chunk        200 to 400 tokens of a section; key doc/HEX#SLUG/8HEX, of its first heading and text
//
// These three say where something is; what is said is in the chunks, which alone are items of an answer. The first
// chunk of a document has its title for a summary and the text for its content, so that a text that names the title
// leads to what it says. The summary of another one is its text. The front matter of a note is a part of its first chunk,
// and each field of it a property of its document.
//
//	part-of      Chunk to Section or Document, Section to Section or Document, Document to Collection
//	next         Chunk to the one that follows it in its document
//	links-to     Chunk to the Document that a link in it leads to
//	imports      Chunk to the Document that stands for a package which its file imports
//	defines      Document of a source file to the Section of a declaration
//
// # Identity
//
// A document is known by its path. A file under a path that is new takes over the document of a path that is
// gone where half of the chunks are equal, as git finds renames. A chunk keeps its key while it is aligned
// with one of the new version: first the longest common subsequence of equal texts, then equal texts that
// moved, then texts that are alike by half of their words under the same heading. So keys depend on the history of a
// file; what is stored never does on the clock.
//
// If a chunk was is its source, with the lines that it had when its text last changed: 'mnem sources'
// finds lines that moved since.
//
// # Who does what
//
// This package reads a snapshot and makes changes of it; package ingesting walks directories, reads files and
// commits. Nothing here reads the clock, randomness or the environment.
package ingest

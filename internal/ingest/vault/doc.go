// Package vault writes a memory as a directory of Markdown files, which Obsidian and other editors of notes read, and
// reads it back.
//
//	TYPE/TITLE.md              a memory: the fields of its change line as front matter, its text, its edges as links
//	Documents/[PROJECT/]PATH   an ingested document, rebuilt from its chunks
//	.mnem-export/manifest.json what was written: Manifest
//	.mnem-export/documents.jsonl  change lines of the nodes, edges and marks that no note has: those of documents
//
// # A note
//
//	---
//	key: "db/ledger"           or id, of a node without a key
//	type: "Decision"
//	tags: ["db"]               a property; one with the name of another field is in props
//	state: "superseded"        a mark: state, by, reason, actor, marked
//	created: "2026-01-02T03:04:05Z"
//	updated: "…"               when it was changed last
//	---
//
//	The summary.
//
//	%% content %%
//
//	The content.
//
//	%% links %%
//
//	- replaces [[Decision/The old ledger|The old ledger]] %%{"created":"2026-01-02T03:04:05Z"}%%
//
// Values of the front matter are JSON, which is also YAML. Read accepts the other forms of YAML that Obsidian writes. A
// link has the other members of its edge's change line in a comment, which Obsidian does not show; a link without a
// comment is an edge too. Texts that Markdown would not preserve are written to the front matter instead.
//
// A file is named after its memory. Names are safe on Windows and on file systems that ignore case or compose
// characters; if memories share a name, each file name also has the beginning of the id.
//
// # Reading back
//
// In an empty memory Read restores the same graph, except for what Result.Left counts. In any other memory it updates
// nodes, edges and marks to match the files. It removes nothing: a deleted note or link has no effect.
package vault

// Package vault writes a memory as a directory of Markdown files, which Obsidian and other editors of notes read, and
// reads it back.
//
//	TYPE/TITLE.md              a memory: what a change line of it says as front matter, its text, its edges as links
//	Documents/[PROJECT/]PATH   a document that was ingested, of what is remembered
//	.mnem-export/manifest.json what was written: Manifest
//	.mnem-export/documents.jsonl  change lines of the nodes, edges and marks that no note has: those of documents
//
// # A note
//
//	---
//	key: "db/ledger"           or id, of a node without a key
//	type: "Decision"
//	tags: ["db"]               a property; one with a name that means something else here is in props
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
// Values of the front matter are JSON, which is YAML too. What Obsidian makes of them, other forms of YAML, is read as
// well. A link has the members of the change line of its edge in a comment, which Obsidian does not show; one without a
// comment is an edge. A text that would not be read back as it is stands in the front matter instead.
//
// Files have the names of the memories, made safe for Windows and for file systems that ignore case or compose
// characters; of memories with one name each has the beginning of its id too.
//
// # Reading back
//
// In an empty memory Read makes the same graph, but for what Result.Left counts. In another one it makes the nodes,
// edges and marks what the files say. It removes nothing: a note that is gone, or a link, says nothing.
package vault

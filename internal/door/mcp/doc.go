// Package mcp serves a memory to agents by the Model Context Protocol: tools, resources and prompts
// over what package operation names. It sees no repository: every call is one of the operations that
// the command line and the HTTP API run too, so that all three give the same answers.
//
// Both eras of the protocol are spoken: sessions that begin with initialize (2025-11-25 and before),
// and requests that stand alone (2026-07-28), on standard input and output as over HTTP.
//
// # Answers
//
// A tool answers twice with the same: as structured content, which has the form of its output
// schema, and as text. Either is at most max_tokens long, by an estimate that real tokenizers stay
// below on the texts it was tried on. What does not fit is left for the next page: the answer's
// cursor names the commit and the position, so that the same call with the same cursor gives the
// same bytes for ever.
//
// The text of memories comes from anyone. It stands between two lines with a mark that is a hash of
// what is between them, so that no text can end its own quotation; see [quote].
package mcp

// Package repo is mnem as a library: a repository of an agent's memory that commits, diffs, retrieves, records and
// replays.
//
// A repository holds commits; a commit holds a graph of nodes and edges. Changes enter as a batch, all or nothing, and
// become a commit on a branch. A Snapshot is the memory as one commit left it: it never changes, and the same request
// to the same commit gives the same bytes in every process.
//
//	r, err := repo.Open(dir, repo.Options{By: repo.Author{Name: "Ada"}, Now: now})
//	res, err := r.Put(ctx, "who leads", repo.Node{Key: "alice", Type: "Person", Summary: "Alice leads infra"})
//	snap, err := r.Snapshot(ctx, "HEAD")
//	answer, err := snap.Retrieve(ctx, retrieve.Request{Text: "who leads infra?"})
//
// # Meaning
//
// With Options.Meaning, a model that sees texts as vectors, a question also finds what says the same in other words.
// Package repo/minilm has the model of the program mnem.
//
// # Concurrency
//
// A Repo and its Snapshots are safe for concurrent use. Readers never wait for writers; commits are made one at a time,
// in the order in which they are asked for. One process at a time holds a repository on disk, readers included: another
// waits up to Options.Wait, behind those that came before it, and then gets an error that wraps ErrBusy.
//
// # Care
//
// Nothing is removed but by GC, which removes what neither refs nor kept operations lead to, and Purge, which erases
// every version of one node for good and leaves a redaction in place of each block. Fsck checks everything.
//
// # Errors
//
// Test with errors.Is: ErrNotFound, ErrExists, ErrCorrupt, ErrBusy, ErrReadOnly, ErrConflict, ErrInvalid, ErrSecret, and
// graph.ErrInvalid for bad change lines. A bad change line is a *graph.LineError with file and line.
//
// Nothing here reads the clock, the environment or randomness: who and when come in Options.
package repo

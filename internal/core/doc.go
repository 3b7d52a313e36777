// Package core is the kernel of a repository: opening, snapshots, transactions, refs, branches, tags, stages and the
// operation log. What a memory can do beyond that is in the packages above it: rank, session, history, merging, care
// and exchange. Other programs import package repo.
//
// A repository holds commits; a commit holds a graph of nodes and edges. Changes enter as a batch,
// all or nothing, and become a commit on a branch. A Snapshot is the memory as one commit left it:
// it never changes, and the same request to the same commit gives the same bytes in every process.
//
//	r, err := care.Open(dir, core.Options{})
//	res, err := r.Commit(ctx, state.ReadChanges(in, "notes.jsonl"), core.CommitOptions{…})
//	snap, err := r.Snapshot(ctx, "HEAD")
//	answer, err := rank.Retrieve(ctx, snap, retrieve.Request{Text: "who owns billing?"})
//
// # What is stored
//
// Blocks under their CIDs, and one mutable cell: the operation head. An operation names its parent
// and a view, a tree of all refs, so every state the refs ever had can be reached again.
//
//	HEAD              names the current branch, or a commit: then it is on none
//	refs/heads/*      branches: the newest commit of each
//	refs/tags/*       tags: commits, or commit.Tag records that lead to one
//	refs/sessions/*   sessions: chains of receipts
//	refs/stage/*      changes that are staged and not committed yet
//	refs/imported/*   what Import brought, by the name it was given
//	refs/conflicts/*  merges in progress, and commits that did not merge with their branch
//
// Indexes are derived: a pure function of a graph, stored apart from the facts, rebuilt at will.
//
// # What a commit costs
//
// A commit reads and writes only what its changes touch, however large the repository. Its records go to the store
// while it makes them, 32 MiB of them waiting at most. Lines are parsed and changes checked, encoded and hashed on all
// processors, some 12 MiB at most ahead of the change that is applied, and trees are written side by side; nothing of
// that shows in what is stored. What a commit keeps of each change until its end are the entries of the trees: some 100
// bytes a node, 260 an edge. Of more than 512 nodes it keeps up to 64 MiB of what the index needs, analysed on a
// goroutine of its own; nodes beyond that are read back, some ahead of the one that is analysed. A first commit of 10^5
// nodes and 3*10^5 edges takes less than 400 MiB of heap, and one of ten times as much 2 GiB, half of it garbage that
// was not collected yet. An edge before its nodes takes more, until the end, than one after them; an embedding is kept
// until the end.
//
// A commit merges segments of its indexes, of texts, links and vectors, if they hold 256 documents at most, or 8 times
// what it changes. Larger merges run in the background, one at a time, on a goroutine that Close waits for, and take
// some 15 microseconds for each document, one for each node with links; an interrupted merge is made again. A commit
// without an index to follow, as of an imported history, leaves making one to the first retrieval that may write; until
// then links are read from the trees.
//
// # Going back
//
// Resolve finds where a branch was some moves, times or operations ago. history.Undo takes back the caller's newest
// change, then the one before it, as new operations that history.Redo takes back in turn. It keeps what captures added
// to the branch since, and refuses with a *history.UndoError if anything else moved the same refs.
// history.RestoreOperation brings all refs but those of sessions and remote-tracking refs back to how an operation left
// them. Nothing becomes unreachable by any of it.
//
// # Merging
//
// Merge, Revert and CherryPick of package merging merge three states field by field, property by
// property, edge by edge and mark by mark. What both sides changed differently waits as a PendingMerge
// for merging.ResolveConflict and merging.ContinueMerge. A commit made against an older commit (CommitOptions.Base, or
// a stage) is merged onto the newest; what does not merge is kept, and reported by a *MergeError.
//
// # Exchange
//
// exchange.Export writes commits with their histories, sessions or receipts to a CARv1 file (package
// car), the same bytes on every machine; exchange.Import takes one in, all or nothing, once everything in it was
// checked. What a file holds, and the order of it, is clause 18 of the specification.
//
// # Signatures
//
// If a Stamp has a signer, its commits are signed by the caller, whose secret never comes here.
// VerifyHistory checks the signatures of a history against the keys that the caller trusts; merges
// and imports can be made to refuse commits not signed by trusted keys (RequireSigned).
//
// # Who may change what
//
// A Stamp may have a Guard, which is asked about everything that an operation changes in what HEAD,
// branches, stages and merges in progress lead to, by type, before it is recorded: package policy
// makes one of a file. There is no way to move those refs that does not ask it.
//
// # Memory
//
// What is kept between calls is bounded by Options: blocks as they are stored, decoded trees, decoded
// parts of the index, links, and vectors, 512 MiB at most by default. A process that answers one question
// fills little of that: in a memory of 100,000 nodes with vectors of 384 dimensions it has 62 MiB
// resident, and 78 MiB with the vector lane. Smaller caches take longer to answer, and answer the same.
//
// # Care
//
// Nothing is removed but by care.GC, which removes what neither refs nor kept operations lead to, and care.Purge, which
// erases every version of one node for good and leaves a redaction (Redactions) in place of each block. A node that was
// purged is stood in for by one of the type state.RedactedType in older commits. care.Fsck checks everything;
// care.Repair rebuilds indexes. What a Snapshot in use or a Lease needs is not collected.
//
// GC and Fsck look at everything there is, so their time grows with the repository. Fsck keeps up to 32
// bytes for each node, edge and embedding, and a word for each commit; GC some 30 bytes for each block.
// A node with three edges takes about five blocks.
//
// # Concurrency
//
// A Repo and its Snapshots are safe for concurrent use; readers never wait for writers. Commits are made one at a time,
// in the order in which they are asked for, and become durable together: writers that come while the disk is waited for
// share its next answer. What is not durable yet no reader sees. Changes that depend on what is stored are made by
// Decide, within the turn of the writer. One process at a time holds a repository on disk, readers included: another
// waits up to Options.Wait, behind those that came before it, and then gets an error wrapping store.ErrBusy.
//
// # Errors
//
// Test with errors.Is: store.ErrNotFound for what does not exist, store.ErrCorrupt for damage,
// store.ErrBusy, store.ErrReadOnly, state.ErrConflict for refs that moved, state.ErrInvalid and
// graph.ErrInvalid for bad input. A bad change is a *graph.LineError with file and line.
//
// Nothing here reads the clock, the environment or randomness: who and when come in a Stamp.
package core

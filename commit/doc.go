// Package commit defines the records of history: commits, operations and stages, and walks over them.
//
// A commit names one graph, its parents, and who made it when. An operation is one change of refs; the reference to
// the newest one is the only mutable cell of a repository, and every past state is reachable from it. A stage is a
// commit in preparation.
//
// Records are canonical DAG-CBOR maps with kind (string) and v (int, 1). Decode accepts exactly the output of Encode
// and refuses everything else with an error that wraps ipld.ErrInvalid; unknown fields are kept in Extra. A question
// mark marks an optional field, which is omitted if it has no value; times are integers in microseconds since 1970.
//
//	commit     field      type    meaning
//	           parents    list    0..16 distinct links to commits
//	           height     int     1 without parents, else 1 more than the greatest of theirs
//	           graph      link
//	           digests?   link    tree of texts of digests
//	           profile?   link    retrieval profiles
//	           vectors?   link    tree of embeddings
//	           author     string  1..255 bytes, no control characters
//	           agent?     string  likewise
//	           task?      string  likewise
//	           time       int     time
//	           message    string or link: "", or a raw block of 1..65,536 bytes of text; older
//	                              records have the text itself
//	           change     bytes   16 bytes: ChangeID of the commit's first form
//	           signature? bytes   1..4,096 bytes, over the record without it
//
//	operation  parent?    link    the operation before; absent for seq 1
//	           seq        int     1, 2, 3 …
//	           skip?      link    the operation of seq Skip(seq), unless that is 0
//	           view       link    tree: ref name to link or to string naming another ref
//	           time       int     time
//	           actor      string  1..255 bytes, no control characters
//	           command    list    1..64 strings of 0..255 bytes: verb, flag names, ids; no values
//	           undoes?    link    the operation, no undo, that this one took back
//	           redoes?    link    the undo that this one took back; not with undoes
//	           horizon?   int     2..seq: operations of lower seq may be gone, but for Kept
//
//	stage      base?      link    the commit staged upon; absent before the first
//	           branch     string  ref name
//	           graph      link    may hold dangling edges
//	           vectors?   link    tree of embeddings
//
//	tag        name       string  the end of a ref name
//	           time       int     time
//	           tagger     string  1..255 bytes, no control characters
//	           target     link    a commit
//	           message    string or link, as of a commit
//
//	redaction  what       string  node, content, embedding, query, message, edge or mark: what was
//	                              erased
//	           left?      map     of an edge or mark, and always there: the record without what was
//	                              erased, which is read in its place
//	           node?      bytes   16 bytes: the id of the node that was purged
//	           actor      string  1..255 bytes, no control characters
//	           time       int     time
//	           reason?    string  1..4,096 bytes
//
//	conflict   item       string  node/ID, edge/ID, mark/node/ID, mark/edge/ID or profile
//	           cause      string  edit_edit, add_add, delete_modify, end_removed or circle
//	           fields?    list    1..512 names of 1..1,024 bytes, ascending
//	           base?      link    the item's record before
//	           ours?      link    on our side
//	           theirs?    link    on theirs, not the same as ours
//
//	merge      verb       string  merge, revert or cherry-pick
//	           ours       link    the branch's commit when it began
//	           theirs?    link    the commit that is merged; absent only in a revert
//	           message    string or link, as of a commit
//	           graph      link    what merged, with ours if there is a conflict
//	           digests?   link    tree of texts of digests
//	           profile?   link    retrieval profiles
//	           vectors?   link    tree of embeddings
//	           dropped    int     embeddings that fit no merged node
//	           conflicts  link    tree: item to link to conflict
//	           resolutions link   tree: item to map of take (ours, theirs, base; or record) and,
//	                              with record, record? (link; absent: no such item)
//
//	export     scope      string  all, revision, range, session or receipt
//	           format     int     1
//	           refs       link    tree: ref name to link
//	           head?      string  name of a branch's ref, one of refs
//	           objects?   list    1..16 ascending links: commits and receipts without a ref
//	           since?     list    1..16 ascending links: commits the receiver must have
//	           redacted?  link    tree: CID of an erased block to link to its redaction
//
// The signature of a commit, made by a SignFunc and checked by Verify:
//
//	bytes   0      1: Ed25519; other numbers are unknown and do not hold
//	        1..32  the public key
//	        33..96 Ed25519 over "mnem:commit:" and the record without signature
//
// Heights make walks exact for any clocks: an ancestor is always lower than its descendants, so a walk from high to
// low never meets a parent before a child.
package commit

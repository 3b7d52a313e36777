// Package prolly is an ordered map from bytes to bytes, stored as a tree of blocks whose shape
// depends on the mapping alone: two trees with the same entries have the same root, whatever was
// done to get there. Equal parts of two trees are equal blocks, so that a tree and its edited
// copy share all but a path, a diff skips what is shared, and so does whatever copies blocks.
//
// A [Map] is immutable. [Map.Edit] returns a new one; [Diff] and [Merge] compare. Keys have at
// most [MaxKey] bytes and are ordered bytewise. A value is one canonical dag-cbor item of at most
// [MaxValue] bytes: what is larger belongs into a block of its own, and its link into the tree.
// Keys and values that a tree hands out are views of shared blocks, to be kept at will and never
// changed.
//
// # Blocks
//
// One chunk is one block, a map of these fields in this order (SPEC 2.4):
//
//	v        int     1
//	keys     list    the keys without the prefix, ascending: 0 to 32 byte strings
//	kind     string  "tree"
//	level    int     0 for the chunks that hold entries, to 63
//	counts   list    above level 0 only: entries of level 0 below each link, at least 1
//	prefix   bytes   the longest common prefix of the keys
//	values   list    level 0: the values; above: links to the chunks one level below
//
// The key of a link is the last key of the chunk it links to. The decoder refuses everything that
// the encoder does not write. A chunk that does not fit its parent (level, last key, count,
// order) is refused by whatever reads it, with a [ShapeError]; [Map.Check] also finds chunks that
// end in the wrong place.
//
// # Where chunks end
//
// A run of more than [MaxEntries] entries is cut after the one whose key, with its level, has the
// smallest hash, and so are its parts (SPEC 2.2). In other words, a level is a treap whose
// subtrees of at most MaxEntries entries are written as one block. Hence an edit stays local
// whatever the keys are: an entry that is put in either ends a chunk, and then exactly the chunks
// on both sides of it are new, or it does not, and then its own chunk is new, in two parts if it
// overflowed. Cutting again needs to look no further than MaxEntries+1 entries.
//
// # Costs
//
// With random keys, or hostile ones of the kinds below, n entries make n/16.5 chunks, and one-key
// edits write (measured at 10^3 to 10^6 entries, inserts, updates and removals in equal parts):
//
//	chunks written   mean 1.02 x height; more than 2 x height + 1 in fewer than 1 of 1,000 edits
//	an update        exactly height
//	an insert        at most 2 in level 0, for any keys
//	a removal        1 in level 0, or 1 to 3 where the key ended a chunk; never above 32
//	a diff of d      2.03 x height for each lone change, its upper chunks shared by many; more
//	                 than 2*d*height + 2*d in 3 of 1,000 diffs of one change, never seen for 10
//
// The bounds on single edits cannot hold with certainty, because a new end of a chunk in one level
// is a new key in the next, where it may end a chunk as well: with a chance of about 1 in 16 a
// level.
//
// # Chosen keys
//
// Someone who chooses keys can try hashes, and no rule that depends on keys alone stops him. What
// he gets for it is bounded:
//
//   - n ascending keys whose hashes fall, for about n*n/4 hashes, become n chunks of one entry in
//     level 0: up to sixteen times the blocks for these keys, and no more writes for an edit. To
//     do the same in the level above, both hashes must fall: about n*n*n/5 hashes.
//   - 31 keys with rising hashes below one with a small hash: removing that one cuts a full chunk
//     into 31, and puts 31 keys into the level above. Putting it back writes two. This costs some
//     hundred hashes, and 31 small blocks a removal.
//   - Keys of which one has a hash that is smaller than all others change nothing: a chunk end is
//     a chunk end.
//
// A tree higher than [MaxLevel] would take falling hashes in dozens of levels at once, and no
// tree of honest keys comes near: it is refused.
package prolly

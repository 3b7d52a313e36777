// Package prolly is an ordered map from bytes to bytes, stored as a tree of blocks whose shape depends on the
// mapping alone: two trees with the same entries have the same root, whatever edits led to it. Equal parts of two
// trees are equal blocks, so that a tree and its edited copy share all but a path, a diff skips what is shared, and
// a copy of blocks skips it too.
//
// A [Map] is immutable. [Map.Edit] returns a new one; [Diff] and [Merge] compare. Keys have at most [MaxKey] bytes
// and are ordered bytewise. A value is one canonical dag-cbor item of at most [MaxValue] bytes: store anything
// larger in its own block and put the link into the tree. Keys and values returned by a tree are views of shared
// blocks; callers may keep them but must not change them.
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
// The key of a link is the last key of the chunk it links to. The decoder refuses everything that the encoder does
// not write. Reading a chunk that does not fit its parent (level, last key, count, order) fails with a
// [ShapeError]; [Map.Check] also finds chunks that end in the wrong place.
//
// # Where chunks end
//
// A run of more than [MaxEntries] entries is cut after the one whose key, with its level, has the smallest hash,
// and so are its parts (SPEC 2.2). In other words, a level is a treap whose subtrees of at most MaxEntries entries
// are written as one block. Edits therefore stay local for any keys: if an inserted entry ends a chunk, exactly the
// two chunks around it are new; otherwise only its own chunk is new, split in two if it overflowed. Cutting again
// needs to look no further than MaxEntries+1 entries.
//
// # Costs
//
// With random keys n entries make n/16.5 chunks, and one-key edits cost (measured at 10^3 to 10^6 entries, 30,000
// inserts, updates and removals each):
//
//	chunks written   mean 1.02 x height; at most 2 x height + 1 in 99.99% of edits, and at most
//	                 2 more in the others
//	an update        exactly height
//	an insert        at most 2 in level 0, for any keys
//	a removal        1 in level 0 in 96% of removals, 6 at most; 32 for any keys
//	a diff of d      at most 2 x d x height + 2 x d chunks read, except in 0.3% of diffs of one
//	                 change; 2.03 x height on average for one
//
// The exceptions are inherent: a new end of a chunk in one level is a new key in the next, and it ends a chunk
// there with a chance of 1 in 16.
//
// # Chosen keys
//
// An attacker who chooses keys can search for hashes, and no rule that depends on keys alone prevents it. The
// effect is bounded:
//
//   - n ascending keys whose hashes fall, found with about n*n/4 hashes, become n chunks of one
//     entry in level 0: up to sixteen times the blocks for these keys, while edits write as few as
//     ever. To do the same in the next level too, both hashes must fall: that takes in the order
//     of n*n*n hashes.
//   - 31 keys with rising hashes before one with a smaller hash, found with about a thousand
//     hashes: removing that one cuts its chunk into 31, and puts as many keys into the next level.
//     Adding it again writes two. So each removal of such a key costs 31 small blocks.
//
// A tree higher than [MaxLevel] would take falling hashes in dozens of levels at once. Trees of honest keys stay
// far below it; a higher tree is refused.
package prolly

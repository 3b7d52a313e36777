// Package links answers which edges a node has from segments: immutable, content-addressed blocks
// that are a pure function of the adjacency trees of a graph and can be rebuilt at will. The trees
// have a chunk of some sixteen edges for each node that is asked about and a path to it; here one
// part has both buckets of some thirty nodes, and two reads find one.
//
// An index is a manifest and segments as package segment has them. A segment holds nodes with their
// buckets; the newest segment that has a node has all of it. A node that lost its edges is there
// without any until nothing is older.
//
//	m, err := links.Update(ctx, blocks, base, of, changes, links.Options{})
//	x, err := links.Open(ctx, blocks, m, of, segment.NewCache(32<<20))
//	f, err := x.Find(ctx, id)
//
// A bucket of more than 64 edges is there by its degree alone: whoever wants its edges, which lie
// side by side in a tree, reads them there, and a hub costs no more to touch than a leaf. The ids of
// edges, a third of a bucket, are left out: who follows edges needs them only for marks, so that an
// entry says whether there is one.
//
// # Records
//
// Those of package segment, of the name "links". The roots of a manifest are those of the trees "out",
// "in" and "marks"; documents are nodes, kills nodes that older segments have too.
//
//	section  key of a part             content of a part
//	nodes    its first id              number of nodes | number of types | for each type its length and
//	                                   bytes | ids of the nodes, ascending | for each node where it ends
//	                                   in what follows, u16 | the nodes
//	sieves   first id of the parts of  a Bloom filter of the nodes in 256 parts, fewer in the last: their
//	         nodes that it is of       number, u32, and 12 bits for each; none where parts are inline
//
//	node   edges out | edges in | entries out | entries in
//	entry  number of its type times four, plus 1 where a weight follows and 2 where the edge has a mark |
//	       id of the other end | the weight where it is not 65,536
//
// Numbers are unsigned varints unless they are named otherwise; u16 is little-endian. A bucket has
// its entries, in key order, where they are at most 64. A part has about 4 KiB, and at most 64 where
// one node has that much.
//
// # Costs and memory
//
// A node with three edges on each side takes 130 bytes, 10^5 of them 14 MB in 3,700 blocks, of which
// a question with expansion looks up some 450. A commit of a node and an edge writes 800 bytes in two
// blocks, manifest included, and as much again for each class of size that it fills; it reads the
// buckets of the nodes it touches. A Cache keeps parts as they are stored, about 100 bytes more each,
// up to its limit, for any number of indexes; an open Index keeps the blocks of its segments, up to
// 16 KiB each. An update takes the memory of one part and 36 bytes for each other, and of a megabyte
// where it merges.
//
// # Damage
//
// Decoders accept any bytes without panic or large allocation. What is found wrong gives errors that
// wrap store.ErrCorrupt; a missing block, store.ErrNotFound. Numbers that are well formed but not
// those of the graph are found by Verify alone.
package links

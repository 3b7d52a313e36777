// Package links looks up the edges of a node in segments: immutable, content-addressed blocks that are a pure
// function of the adjacency trees of a graph and can be rebuilt at any time. A lookup in the trees reads a path to
// a chunk of some sixteen edges; here one part has both buckets of some thirty nodes, and a lookup takes two reads.
//
// An index is a manifest and segments of package segment. A segment holds nodes with their buckets; the newest
// segment with a node has all of its edges. A node that lost its edges is stored without any as long as an older
// segment exists.
//
//	m, err := links.Update(ctx, blocks, base, of, changes, links.UpdateOptions{})
//	x, err := links.Open(ctx, blocks, m, of, segment.NewCache(32<<20))
//	f, err := x.Find(ctx, id)
//
// A bucket of more than 64 edges is stored only as its degree: its edges, which are adjacent in a tree, are read
// there, so a hub costs no more to update than a leaf. The ids of edges, a third of a bucket, are omitted:
// following edges needs them only for marks, so an entry says whether there is one.
//
// # Records
//
// Those of package segment, with the name "links". The roots of a manifest are the roots of the trees "out", "in"
// and "marks"; documents are nodes, kills nodes that older segments have too.
//
//	section  key of a part             content of a part
//	nodes    its first id              number of nodes | number of types | for each type its length and
//	                                   bytes | ids of the nodes, ascending | for each node its end offset
//	                                   in the rest, u16 | the nodes
//	filters  first id of the parts of  a Bloom filter of the nodes in 256 parts, fewer in the last: their
//	         nodes it covers           number, u32, and 12 bits for each; none if parts are inline
//	busy     its first id              number of nodes, u16 | ids of those with more than 4 edges on a side,
//	                                   ascending | for each its edges out and in, u16; none if parts are inline
//
//	node   edges out | edges in | entries out | entries in
//	entry  number of its type times four, plus 1 if a weight follows and 2 if the edge has a mark |
//	       id of the other end | the weight unless it is 65,536
//
// Numbers are unsigned varints unless noted; u16 is little-endian. A bucket has its entries, in key order, if there
// are at most 64. A part has about 4 KiB, and up to 64 if one node needs that much.
//
// # Costs and memory
//
// A node with three edges on each side takes 130 bytes, 10^5 of them 14 MB in 3,700 blocks, and a query with expansion
// looks up some 250; of some 600 others it needs only numbers of edges. A commit of a node and an edge writes 800
// bytes in two blocks, manifest included, and as much again for each size class that it fills; it reads the buckets of
// the nodes it touches. A Cache keeps parts in stored form, with about 100 bytes of overhead each, up to its limit,
// for any number of indexes; an open Index keeps the blocks of its segments, up to 16 KiB each. An update takes the
// memory of one part and 36 bytes for each other, and of a megabyte if it merges.
//
// # Damage
//
// Decoders accept any bytes without panic or large allocation. Errors about damage wrap store.ErrCorrupt; about a
// missing block, store.ErrNotFound. Only Verify finds well-formed numbers that do not match the graph.
package links

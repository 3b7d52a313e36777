// Package dense answers queries by dense vectors about one tree of embeddings from segments: immutable,
// content-addressed blocks that are a pure function of the tree and can be rebuilt at will.
//
// An index is a manifest, which links a tree of groups (package prolly), each the vectors of one model
// and number of dimensions, which alone can be compared. A group is a list of segments as package
// segment has them. A segment holds some vectors and the ids of vectors of older segments that it
// kills. Update adds one small segment to each group that a commit changes.
//
//	m, err := dense.Update(ctx, blocks, base, tree, changes, dense.UpdateOptions{})
//	x, err := dense.Open(ctx, blocks, m, tree, vectors, segment.NewCache(64<<20))
//	res, err := x.Search(ctx, dense.Query{Model: "m", Values: query, Shortlist: 2560, Near: 10})
//
// # Records
//
// Records have the form of package segment; the format's name is "vectors". A manifest links the root of the
// tree of embeddings and the root of the tree of groups; its list of segments is empty.
//
//	group    key      model, a zero byte, dimensions as u32, big-endian
//	         value    a list of segments as a manifest has it, at most 76
//	segment  sums     number of dimensions, and the sum of 40 bits of the hash of each vector that was added to the segment or
//	                  to those that it was merged of, modulo 2^40: no two segments with different vectors are the same block
//
//	section  key of a part  content of a part
//	ids      its first id   2,048 ids of the vectors, ascending, fewer in the last part
//	dead     its first id   2,048 killed ids, ascending, fewer in the last part
//	sketch   empty          256 KiB of sketches of the vectors (clause 9.5), whole ones
//
// Segments have no vectors: the facts have them, and a Source reads those that a query compares. It is asked for as many at
// once as possible, since the store reads many blocks in 7 µs each and single ones in 11.
//
// # Costs
//
// A vector takes 16 bytes for its id, and 48 for its sketch if it has 384 dimensions. A query of a group of at most 2^23
// dimensions in all compares all vectors; 10,000 of 384 take 70 ms of a processor in a new process, and 2 ms once they are
// cached. A query of a larger group reads all sketches, which a cache keeps (48 MB at 10^6), then the ids and vectors on its
// shortlist, two bytes of memory for each vector, and where a filter lets few pass all ids (16 MB at 10^6). What was read
// stays in the cache, whose bound it is that limits memory; a query itself takes two bytes a vector and what its shortlist
// takes, or 8 MiB of pages at a time where it compares all. Sketches and whole groups are shared out to GOMAXPROCS
// goroutines; a filter is asked on the calling one.
//
// Of vectors in clusters (testkit/synthkit, 384 dimensions) a shortlist of at most 2,560 finds .998 of the ten that are
// nearest of 24,000, .995 of 10^5 and .993 of 10^6, with 400 to 600 vectors on the average; of means of words, as
// static models make them, .998 or more with 90 to 600. What matters is that a query keeps weights (without: 1.5 to 2
// times as many vectors), that vectors are mixed three times (once, as a product with the padded matrix: up to 17 times
// as many where few dimensions hold most of them), and that the margin ends most lists early (without: 2,560 each).
// Weights of four bits save 5 % of the vectors and take a third longer; two bits a dimension need 640 for .99, twice
// the memory and 1.6 times as long.
//
// A sketch of 384 dimensions is compared in 16 ns by 18 population counts, in pure Go one instruction each.
//
// An update takes up to 400 KiB of memory for each group that it has open, 64 at most.
//
// # Damage
//
// Decoders accept any bytes without panic or large allocation. Errors about damage wrap store.ErrCorrupt, about a
// missing block store.ErrNotFound. Only Verify finds well-formed numbers that do not match the tree.
package dense

// Package dense answers queries by dense vectors about one tree of embeddings from segments:
// immutable, content-addressed blocks that are a pure function of the tree and can be rebuilt at
// will.
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
// Those of package segment, of the name "vectors". The roots of a manifest are those of the tree of
// embeddings and of the tree of groups; its list of segments is empty.
//
//	group    key      model, a zero byte, dimensions as u32, big-endian
//	         value    a list of segments as a manifest has it, at most 76
//	segment  sums     number of dimensions, and 1 if the segment is bare, else 0
//
//	section  key of a part  content of a part
//	ids      its first id   2,048 ids of the vectors, ascending, fewer in the last part
//	dead     its first id   2,048 killed ids, ascending, fewer in the last part
//	sketch   empty          256 KiB of sketches of the vectors (clause 9.5), whole ones
//	vectors  empty          16 KiB (at least one) of id, sum of squares as u32, little-endian, dimensions
//	                        as int8; no part in a bare segment
//
// # Bare segments
//
// In a group of at most 2^23 dimensions in all, a query compares all vectors. Reading each from the facts takes 11 µs, so
// the segments keep them. A query of a larger group needs some hundred of them: the segments that are written there have
// only ids and sketches, and the Source reads the vectors on a shortlist from the tree of embeddings. Merging a bare
// segment with others makes a bare one. An answer does not depend on which segments are bare.
//
// # Costs
//
// A vector of 384 dimensions takes 404 bytes, its id 16 more, its sketch 48; in a bare segment 64 in all. A query reads all
// sketches of its group, which a cache keeps (48 MB at 10^6), then the parts of the vectors on its
// shortlist from all over the group, each once, or their ids and embeddings, two bytes of memory for each vector, and where
// a filter lets few pass all ids (16 MB at 10^6). What was read stays in the cache, whose bound it is
// that limits memory; a query itself takes two bytes a vector and what its shortlist takes, in parts
// of 16 KiB where the cache keeps none. Groups below 2^23 dimensions in all are compared whole, 2 MiB
// of parts at a time. Sketches and whole groups are shared out to GOMAXPROCS goroutines, the parts
// of a shortlist to four; a filter is asked on the calling one.
//
// Of vectors in clusters (internal/synth, 384 dimensions) a shortlist of at most 2,560 finds .998 of
// the ten that are nearest of 24,000, .995 of 10^5 and .993 of 10^6, with 400 to 600 vectors on the
// average; of means of words, as static models make them, .998 or more with 90 to 600. What matters
// is that a query keeps weights (without: 1.5 to 2 times as many vectors), that vectors are mixed
// three times (once, as a product with the padded matrix: up to 17 times as many where few
// dimensions hold most of them), and that the margin ends most lists early (without: 2,560 each).
// Weights of four bits save 5 % of the vectors and take a third longer; two bits a dimension need
// 640 for .99, twice the memory and 1.6 times as long.
//
// A sketch of 384 dimensions is compared in 16 ns by 18 population counts, in pure Go one
// instruction each.
//
// An update takes up to 400 KiB of memory for each group that it has open, 64 at most.
//
// # Damage
//
// Decoders accept any bytes without panic or large allocation. What is found wrong gives errors
// that wrap store.ErrCorrupt; a missing block, store.ErrNotFound. Numbers that are well formed but
// not those of the tree are found by Verify alone.
package dense

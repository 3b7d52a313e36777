// Package segment keeps derived indexes: lists of immutable, content-addressed segments that are a
// pure function of facts and can be rebuilt at will. What a segment's parts hold is the matter of a
// package that has a Format: texts (index), edges (links), dense vectors (dense).
//
// An index is a manifest, which lists segments from the oldest to the newest. An update adds a small
// segment and now and then merges the newest (Updater), so that each document is written about log(n)
// times, manifests share all but the newest, and a query looks into few segments. What segments an
// index has never changes an answer.
//
// # Records
//
// All are canonical DAG-CBOR, but parts, which are raw blocks. Kinds and versions are those of the
// Format.
//
//	manifest   v         version
//	           kind      name of the format
//	           sums      list of integers, whose meaning is the format's
//	           text      a string, likewise
//	           roots     list of links to the facts that the index is of
//	           segments  list of [link, documents, kills], the oldest first; and last, where a merge
//	                     is awaited, [first, number] of the segments that it is of
//	segment    v         version
//	           docs      number of documents
//	           kind      name of the format and " segment"
//	           sums      list of integers, whose meaning is the format's
//	           kills     number of documents of older segments that it removes or replaces
//	           sections  list of sections, as many as the format has
//	section    a list: the number of parts, then for each part its key and the part: a link to a raw
//	           block, or bytes where all parts of the segment are at most as long together as the
//	           format says, so that the segment of a small commit is one block. A section of more than
//	           256 parts has links to directories instead, each with the key of its first part
//	parts      v, kind, and "parts": a list of key and link for each of 256 parts, fewer in the last
//
// The first two sections of formats whose documents have ids are "ids" and "dead": 2,048 ids a part,
// ascending, under the first of them; the position of an id in "ids" is the number of its document.
//
// Keys of a section ascend, or are empty in a section whose parts are found by their number.
//
// # Costs
//
// Reading a block of package store/pebble takes 10 µs and 0.9 to 1.1 ms for each MiB of it, half of that
// for its hash, whether one is asked for or many at once and in whatever order: parts of a section that
// is searched at random are best 4 to 16 KiB long, and nothing is won by longer ones unless most of
// them is wanted. An update keeps one part of each section in memory.
//
// # Damage
//
// Decoders accept any bytes without panic or large allocation. What is found wrong gives errors that
// wrap store.ErrCorrupt; a missing block, store.ErrNotFound. Numbers that are well formed but not
// those of the facts are found by the verification of each kind of index alone.
package segment

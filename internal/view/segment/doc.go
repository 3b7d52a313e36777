// Package segment implements derived indexes: lists of immutable, content-addressed segments that are a pure
// function of facts and can be rebuilt at any time. The package that defines a Format determines the content of a
// segment's parts: texts (index), edges (links), dense vectors (dense).
//
// An index is a manifest, which lists segments from oldest to newest. An update adds a small segment and occasionally
// merges the newest (Updater), so that each document is written about log(n) times, manifests share all but the newest
// segments, and a query reads few segments. Answers do not depend on how an index is divided into segments.
//
// # Records
//
// All are canonical DAG-CBOR, except parts, which are raw blocks. The Format defines kinds and versions.
//
//	manifest   v         version
//	           kind      name of the format
//	           sums      list of integers defined by the format
//	           text      a string defined by the format
//	           roots     list of links to the indexed facts
//	           segments  list of [link, documents, kills], oldest first; and last, if a merge is
//	                     pending, [first, number] of the segments to merge
//	segment    v         version
//	           docs      number of documents
//	           kind      name of the format and " segment"
//	           sums      list of integers, whose meaning is the format's
//	           kills     number of documents of older segments that it removes or replaces
//	           sections  list of sections, as many as the format has
//	section    a list: the number of parts, then for each part its key and the part: a link to a raw
//	           block, or bytes if all parts of the segment together do not exceed the format's
//	           limit, so that the segment of a small commit is one block. A section of more than
//	           256 parts has links to directories instead, each with the key of its first part
//	parts      v, kind, and "parts": a list of key and link for each of 256 parts, fewer in the last
//
// The first two sections of formats whose documents have ids are "ids" and "dead": 2,048 ids a part, ascending,
// under the first of them; the position of an id in "ids" is the number of its document.
//
// Keys of a section ascend, or are empty if its parts are found by number.
//
// # Costs
//
// Reading a block of package store/pebble takes 10 µs and 0.9 to 1.1 ms for each MiB of it, half of that for its
// hash, whether blocks are requested one by one or together, in any order. Parts of a section with random access
// are best 4 to 16 KiB long; longer ones pay off only if most of their content is needed. An update keeps one part
// of each section in memory.
//
// # Damage
//
// Decoders accept any bytes without panic or large allocation. Errors about damage wrap store.ErrCorrupt; about a
// missing block, store.ErrNotFound. Well-formed numbers that do not match the facts are found only by each index's
// own verification.
package segment

// Package index answers text queries about one graph from segments: immutable, content-addressed
// blocks that are a pure function of the graph's nodes and can be rebuilt at will.
//
// An index is a manifest and segments as package segment has them. A segment holds some documents (nodes) and the ids
// of documents of older segments that it kills; a document lives unless a newer segment kills its id. A segment's
// statistics count its documents less the documents it kills, so that the sums over the segments are exact for the live
// documents, whatever the layout.
//
//	m, err := index.Update(ctx, blocks, base, changes, index.UpdateOptions{})
//	x, err := index.Open(ctx, blocks, m, segment.NewCache(64<<20))
//	res, err := x.Text(ctx, "who owns billing", accept, 0)
//
// # Records
//
// Records have the form of package segment; the format's name is "texts".
//
//	manifest  sums  version of the analyser; N, the number of nodes; T, terms in all nodes, for each
//	                text field; D, nodes with a term, for each text field
//	          text  language of the analyser
//	segment   sums  T and D of the documents, less those of the documents it kills
//
// A part has at most 64 KiB, except in "large".
//
//	section  key of a part        content of a part
//	ids      its first id         2,048 ids of documents, ascending, fewer in the last part; the
//	                              position of an id in the section is its document number
//	dead     its first id         2,048 killed ids, ascending, fewer in the last part
//	lens     its first document   for 2,048 documents, fewer in the last part: of each text field
//	                              a byte W, 0, 1, 2 or 4, and the length of the field in each
//	                              document in W bytes, little-endian: in terms, without the units
//	                              of clause 7.1
//	meta     its first document   number of documents; number of types; for each type, ascending,
//	                              its length and bytes; for each document the number of its
//	                              type, a byte, or u16 if there are more than 256; for each 32
//	                              documents where they end in what follows, u16; then the
//	                              documents, below
//	props    length of the first  groups, ascending by name (shorter first, then bytewise): length
//	         name, the name, its  of the name, the name, number of documents; for each of them the
//	         first document       distance from the one before, less one (from -1 for the first),
//	                              and the length and bytes of the value's DAG-CBOR encoding, or 0
//	                              and a part number of "large" for one of more than 8 KiB
//	large    empty                the encoding of one value
//	posts    its own number       posting blocks, below
//	terms    its first term       number of terms, u16; offset of each 16th term from the first on,
//	                              u16 each, counted from their end; then the terms, below
//	titles   its first sum        8,192 sums of titles and of their beginnings, four bytes each,
//	                              big-endian, ascending, each once, fewer in the last part
//
// A title (clause 7.3) is a key of the dictionary too: a zero byte before each of its terms, with the nodes that have
// it as postings, one occurrence in the summary each. Titles are in no length, sum or maximum of anything else.
//
// The sum of a title, all modulo 2^64: S is 0; for each of its terms, with F its 64-bit FNV-1a hash with the last bit
// set, X is (S rotated left by 25 bits xor F) · 0x9e3779b97f4a7c15 and S is X xor X/2^32, rounded down; the sum is
// S/2^32, rounded down, with its last bit cleared. A title of three terms or more has a beginning too: the sum of its
// first two, with its last bit set. Runs of words of a text are looked up among the sums, those of three and more only
// where they begin as a title does, and those that are there, nearly all of them titles, in the dictionary: of a text
// that mentions nothing no dictionary is read, but four to eight bytes for each title of the memory, once.
//
// Numbers are unsigned varints of the shortest form unless they are named otherwise; u16 is
// little-endian; documents in keys are four bytes, big-endian; times are zigzag varints.
//
//	document of meta   flags (1 updated, 2 validFrom, 4 validTo) | created, from that of the
//	                   document before, 0 for each 32nd | those flagged, from created
//	term               bytes shared with the term before, 0 for each 16th | length of the rest |
//	                   rest | documents with the term | killed documents with the term | place
//	place              nothing without documents; 0, length, postings where they are one block of
//	                   at most 64 bytes; else part of posts + 1, offset
//	posting block      last document: its distance from where it would be without gaps | length of
//	                   the postings | mask of fields | for each field of the mask, the largest
//	                   number of occurrences and the smallest length | postings
//	posting            distance of the document from the one before, less one (from -1 for the
//	                   first) | mask of fields, bit 6 set where each number is 1 | else the number
//	                   of occurrences for each field of the mask
//
// The postings of a term are blocks of 128, fewer in the last, one after the other. A part of the
// segment ends after a block, and the next part continues. Block maxima are counts, never scores:
// they hold whatever the statistics become.
//
// # Memory
//
// A Cache keeps decoded parts up to its limit, for any number of indexes; readers of it do not wait for each other. An
// open Index also keeps which documents are dead, one bit each, the sums of up to 8,192 titles of small segments, and
// up to 16,384 titles found in texts with their nodes, in about two megabytes: a few titles are in most texts.
//
// # Damage
//
// Decoders accept any bytes without panic or large allocation. Errors about damage wrap store.ErrCorrupt, about a
// missing block store.ErrNotFound. Only Verify finds well-formed numbers that do not match the graph.
package index

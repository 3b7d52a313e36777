// Package car reads and writes CARv1 files: a stream of blocks with the CIDs it starts from, which
// other IPLD tools read and write too. Of a CARv2 file it reads the CARv1 file inside, and not its index.
//
//	file      header section*                      to the end of the file, nothing after it
//	header    varint length | one dag-cbor map     {"roots": [link, …], "version": 1}
//	section   varint length | 36 bytes of a CID | the block's bytes
//
//	varint    unsigned LEB128, in the fewest bytes, of what follows in bytes
//	roots     1 to MaxRoots links
//	block     at most ipld.MaxBlock bytes
//
// A Reader accepts less than CARv1 allows: CIDs of the one form in use here, and blocks that match
// their CID and are canonical. It hands out nothing it has not verified, keeps one block in memory,
// and allocates no more than a limit however long a length claims to be. What it refuses is a
// *FormatError with the offset of the header or section at fault.
//
// Whether a root is there, whether a block comes twice and whether anything leads to it, a stream
// cannot tell: that is for whoever reads all of it.
package car

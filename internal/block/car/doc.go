// Package car reads and writes CARv1 files: a stream of blocks with their root CIDs, as other IPLD tools read and
// write them. In a CARv2 file it reads the inner CARv1 file and ignores the index.
//
//	file      header section*                      to the end of the file, nothing after it
//	header    varint length | one dag-cbor map     {"roots": [link, …], "version": 1}
//	section   varint length | 36 bytes of a CID | the block's bytes
//
//	varint    unsigned LEB128, in the fewest bytes, of what follows in bytes
//	roots     1 to MaxRoots links
//	block     at most ipld.MaxBlock bytes
//
// A Reader accepts less than CARv1 allows: CIDs must have the one form used here, and blocks must match their CID and
// be canonical. It returns only verified blocks, keeps one block in memory, and checks lengths against a limit before
// it allocates. It reports invalid input as a *FormatError with the offset of the header or section at fault.
//
// A stream cannot show whether every root is present, whether a block repeats or whether it is reachable; callers
// that read the whole file check this.
package car

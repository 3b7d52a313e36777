// Package ipld names and encodes blocks: content identifiers, strict canonical DAG-CBOR and the limits that every
// decoder enforces.
//
// A block is bytes plus the CID of those bytes. One value has one encoding and one CID: the decoder accepts exactly
// what the encoder writes and refuses everything else, with the offset and the reason, before it allocates memory
// for it.
//
//	item      bytes
//	integer   major 0 or 1, shortest head, within int64
//	float     fb + 8 bytes IEEE 754, never NaN or infinite
//	string    major 3, definite length, valid UTF-8
//	bytes     major 2, definite length
//	list      major 4, definite length
//	map       major 5, definite length, string keys, shorter key first, then bytewise, no duplicates
//	link      d8 2a 58 25 00 + 36 bytes of a binary CID
//	constant  f4 false, f5 true, f6 null
//
//	binary CID   01 | codec (71 dag-cbor or 55 raw) | 12 20 | 32 bytes of sha2-256
//	text CID     'b' + base32 (RFC 4648, lower case, no padding) of the binary form, 59 characters
//
// ParseJSON and AppendJSON convert values to and from JSON: DAG-JSON in which spelling distinguishes integers from
// floats. DAGJSON and package prime serve other IPLD tools.
//
// go-ipld-prime, go-cid and go-multihash serve other tools and are the oracle in tests. Their decoders accept more
// than content addressing allows, so only this package decides what is canonical.
package ipld

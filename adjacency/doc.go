// Package adjacency defines the adjacency of nodes: the keys of a graph's out and in trees, the buckets that are
// ranges of them, and traversal.
//
//	tree  key                                      value
//	out   src ‖ type ‖ 00 ‖ dst ‖ edge id          weight, a dag-cbor integer
//	in    dst ‖ type ‖ 00 ‖ src ‖ edge id          weight
//
// Ids are 16 bytes and a type has no NUL, so a key is unambiguous. A node's bucket is the range of keys under its
// id, sorted by (type, other end, edge id): a hub with a million edges costs no more to touch than a leaf, and
// walking never reads an edge block.
package adjacency

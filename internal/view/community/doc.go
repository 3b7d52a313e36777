// Package community divides the nodes of a graph into communities: sets of nodes with more weight of edges among them
// than by chance. It is the Leiden algorithm (Traag, Waltman and van Eck, 2019) for modularity, as a pure function of
// the edges: nodes move in the order of their ids, always to the best community and never to a random one, and every
// gain is an exact integer.
//
// Edges count in both directions, parallel ones together, by their weights. An edge from a node to itself counts twice
// for its node and not at all otherwise. Marks, types and times do not count, and erased nodes keep their place: a
// graph has the same communities for every request. Clause 20.1 of docs/internals/ranking.md.
//
//	p, err := community.Find(ctx, edges)
//	number, ok := p.Of(id)
//	members := p.Members(number)
//
// The search takes some 60 bytes an edge and 100 a node, its result 36 bytes a node.
//
// # Record
//
// Communities are derived from the out tree of a graph and can be stored with it: a canonical DAG-CBOR record and the
// raw blocks that it links to, whose concatenated bytes are the list.
//
//	field   type     meaning
//	v       int      1
//	kind    string   communities
//	out     link     root of the out tree
//	count   int      communities
//	nodes   int      members of all
//	parts   [link]   raw blocks of 512 KiB, fewer bytes in the last
//
// The list has for each community, in order, the number of its members, then for each, in order, its id (16 bytes) and
// the weight of its edges inside. Numbers are unsigned varints of the shortest form. Decode accepts any bytes without
// panic or large allocation and refuses records that are not in order.
package community

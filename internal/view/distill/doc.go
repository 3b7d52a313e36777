// Package distill digests a memory: a few sentences for each scope, for each cluster of similar facts, and for the
// whole, so that a reader sees much in few tokens. All of it is a function of the graph and of a recipe; a repository
// stores it as derived data.
//
// # The tree
//
// A fact is a node that no mark hides. Edges of the recipe's types lead from facts to scopes; values of properties and
// node types may be scopes too. Scopes in a cycle are one. Facts and scopes outside any scope are in the root. Each
// scope, and the root, is a trie over 96 digits of two bits, the key of an entry: 32 of the SimHash of its text and 64
// of its id. An entry is a fact or a scope within. A trie node with at most MaxMembers entries and MaxSize tokens, or
// one entry, is a leaf; any other has a child for each digit that follows the longest common prefix of its entries. So
// the tree depends on the set of entries alone.
//
// Every trie node is a digest: the topmost one digests its scope, the others are clusters. If a node is in several
// scopes, the first one by the order of rules and ids is its home, and counts it.
//
// A tree of hashes finds digests and facts by their texts: see hashes.go.
//
// # Blocks
//
// A digest is one block of canonical DAG-CBOR, a map of these fields in this order. Lists are fixed tuples.
//
//	v        1
//	at       string  digits that all entries share
//	sem      bytes   8: bitwise majority of its members' hashes
//	kids     list    of [label, link, source, sem, members, size, facts, tokens, until or null, scopes]
//	kind     "digest"
//	name     string  of a scope that is a property or type; absent for others
//	size     int     tokens by which leaves are split
//	text     list    of [fact, created, place, sentence]
//	facts    int     that are at home here and below
//	label    string  digits that lead here; "" for a scope's own digest
//	scope    bytes   16: the smallest id of the scope's nodes; zeros for the root
//	until    int     the earliest end of validity below; absent for none
//	scopes   int     entries of this trie below that are scopes
//	source   bytes   32: see Source
//	tokens   int     of the facts counted
//	entries  list    of [key, size, facts, tokens, source, until or null, link or null]
//	members  int     entries of this trie below
//	refused  int     sentences left out since they may hold a credential; absent for none
package distill

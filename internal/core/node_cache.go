package core

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// nodeCacheBytes bounds the blocks of nodes that are kept between retrievals. Those with most edges are read again
// and again: the store takes as long for each as decoding ten.
const nodeCacheBytes = 2 << 20

// mentionCacheBytes bounds what is kept of nodes' mentions: those of some 5,000 nodes, as many as most memories have.
const mentionCacheBytes = 4 << 20

// MentionsOf is a node of a tree of nodes, and whether what mentions it is meant or what it mentions.
type MentionsOf struct {
	Nodes ipld.CID
	Node  graph.ID
	In    bool
}

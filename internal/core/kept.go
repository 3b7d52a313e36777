package core

import (
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view"
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

// maxKept bounds of how many graphs a repository keeps communities, and digests.
const maxKept = 4

// kept are the newest used of what is derived from graphs.
type kept[X any] struct {
	Mu sync.Mutex // held while some are made
	view.Opened[X]
}

// Put keeps x as the newest. Its caller holds Mu.
func (k *kept[X]) Put(of ipld.CID, x X) { k.Opened.Put(of, x, maxKept) }

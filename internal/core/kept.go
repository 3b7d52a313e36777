package core

import (
	"slices"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/community"
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

// maxOpenCommunities bounds how many graphs' communities a repository keeps in memory.
const maxOpenCommunities = 4

// openCommunities are the newest used communities, the most recent last.
type openCommunities struct {
	Mu   sync.Mutex // held while some are found or kept
	Outs []ipld.CID // roots of the out trees they are of
	List []*community.Partition
}

// Put keeps the communities of an out tree as the newest; the oldest go if there are more than
// maxOpenCommunities. Its caller holds Mu.
func (o *openCommunities) Put(out ipld.CID, p *community.Partition) {
	if i := slices.Index(o.Outs, out); i >= 0 {
		o.Outs, o.List = slices.Delete(o.Outs, i, i+1), slices.Delete(o.List, i, i+1)
	} else if len(o.Outs) == maxOpenCommunities {
		o.Outs, o.List = o.Outs[1:], o.List[1:]
	}
	o.Outs, o.List = append(o.Outs, out), append(o.List, p)
}

// maxOpenDigests bounds how many graphs' digests a repository keeps open, which is little more than
// their links.
const maxOpenDigests = 4

// openDigests are the newest used digests, the most recent last.
type openDigests struct {
	Mu   sync.Mutex // held while some are made
	Keys []ipld.CID
	List []any // each *outline.Digests
}

// Put keeps the digests under a key as the newest; the oldest go if there are more than maxOpenDigests.
// Its caller holds Mu.
func (o *openDigests) Put(key ipld.CID, d any) {
	if i := slices.Index(o.Keys, key); i >= 0 {
		o.Keys, o.List = slices.Delete(o.Keys, i, i+1), slices.Delete(o.List, i, i+1)
	} else if len(o.Keys) == maxOpenDigests {
		o.Keys, o.List = o.Keys[1:], o.List[1:]
	}
	o.Keys, o.List = append(o.Keys, key), append(o.List, d)
}

// Forget drops all digests. Its caller holds Mu.
func (o *openDigests) Forget() { o.Keys, o.List = nil, nil }

package repo

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/cache"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// nodeCacheBytes bounds the blocks of nodes that are kept between retrievals. Those with most edges are read again
// and again: the store takes as long for each as decoding ten.
const nodeCacheBytes = 2 << 20

// keptNodes reads the blocks of nodes through a cache.
type keptNodes struct {
	store.Getter
	kept *cache.Cache[ipld.CID, []byte]
}

// Get returns a block, which must not be changed.
func (k keptNodes) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, ok, epoch := k.kept.Get(c)
	if ok {
		return data, nil
	}
	data, err := k.Getter.Get(ctx, c)
	if err == nil {
		k.kept.AddSince(epoch, c, data, int64(len(data)))
	}
	return data, err
}

// mentionCacheBytes bounds what is kept of nodes' mentions: those of some 5,000 nodes, as many as most memories have.
const mentionCacheBytes = 4 << 20

// mentionsOf is a node of a tree of nodes, and whether what mentions it is meant or what it mentions.
type mentionsOf struct {
	nodes ipld.CID
	node  graph.ID
	in    bool
}

// keptMentions remembers the mentions of a graph's nodes from one retrieval to the next, as retrieve.MentionMemo.
type keptMentions struct {
	nodes ipld.CID
	epoch int // of kept, when the retrieval began
	kept  *cache.Cache[mentionsOf, *retrieve.Mentioning]
}

func (k keptMentions) of(id graph.ID, d retrieve.Direction) mentionsOf {
	return mentionsOf{k.nodes, id, d == retrieve.In}
}

// keptMentions returns those of the snapshot's nodes, on which alone they depend: not on edges or marks.
func (s *Snapshot) keptMentions() keptMentions {
	_, _, epoch := s.repo.mentions.Get(mentionsOf{})
	return keptMentions{s.state.nodes.Root(), epoch, &s.repo.mentions}
}

// Known returns what is kept of a node, nil for nothing.
func (k keptMentions) Known(id graph.ID, d retrieve.Direction) *retrieve.Mentioning {
	m, _, _ := k.kept.Get(k.of(id, d))
	return m
}

// Remember keeps what was found of a node.
func (k keptMentions) Remember(id graph.ID, d retrieve.Direction, m *retrieve.Mentioning) {
	k.kept.AddSince(k.epoch, k.of(id, d), m, int64(len(m.IDs)*graph.IDLen))
}

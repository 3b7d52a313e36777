package rank

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

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

// keptMentions remembers the mentions of a graph's nodes from one retrieval to the next, as retrieve.MentionMemo.
type keptMentions struct {
	nodes ipld.CID
	epoch int // of kept, when the retrieval began
	kept  *cache.Cache[core.MentionsOf, *source.Mentioning]
}

func (k keptMentions) of(id graph.ID, d retrieve.Direction) core.MentionsOf {
	return core.MentionsOf{Nodes: k.nodes, Node: id, In: d == retrieve.In}
}

// OpenMentions returns those of the snapshot's nodes, on which alone they depend: not on edges or marks.
func OpenMentions(s *core.Snapshot) keptMentions {
	_, _, epoch := s.Repo.Mentions.Get(core.MentionsOf{})
	return keptMentions{s.State.Nodes.Root(), epoch, &s.Repo.Mentions}
}

// Known returns what is kept of a node, nil for nothing.
func (k keptMentions) Known(id graph.ID, d retrieve.Direction) *source.Mentioning {
	m, _, _ := k.kept.Get(k.of(id, d))
	return m
}

// Remember keeps what was found of a node.
func (k keptMentions) Remember(id graph.ID, d retrieve.Direction, m *source.Mentioning) {
	k.kept.AddSince(k.epoch, k.of(id, d), m, int64(len(m.IDs)*graph.IDLen))
}

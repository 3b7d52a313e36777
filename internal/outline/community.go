package outline

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/community"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// CommunitiesKey is the key of the cell that says which derived block has the communities of an
// out tree. Another version of the algorithm has other keys.
func CommunitiesKey(out ipld.CID) ipld.CID {
	name := fmt.Appendf(nil, "mnem:communities:%d:", community.Version)
	return ipld.Sum(ipld.Raw, append(name, out.Bytes()...))
}

// Communities returns the communities of the snapshot's edges, whatever the marks. They are found once and kept in
// memory and, if the repository is open for writing, in the store; a commit that changes no edge has those of the one
// before. It returns an error that wraps community.ErrTooLarge for a graph of too many edges, and store.ErrCorrupt if
// those kept are damaged: Repair drops them.
func Communities(ctx context.Context, s *core.Snapshot) (*community.Partition, error) {
	return communitiesOf(ctx, s.Repo, s.State)
}

func communitiesOf(ctx context.Context, r *core.Repo, s *state.State) (*community.Partition, error) {
	o, out := &r.Communities, s.Out.Root()
	o.Mu.Lock()
	defer o.Mu.Unlock()
	if p, ok := o.Get(out); ok {
		return p, nil
	}
	p, err := KeptCommunities(ctx, r, out)
	if err == nil && p == nil {
		p, err = findCommunities(ctx, r, s)
	}
	if err != nil {
		return nil, fmt.Errorf("communities: %w", err)
	}
	o.Put(out, p)
	return p, nil
}

// KeptCommunities reads the communities of an out tree from the store, nil if it has none.
func KeptCommunities(ctx context.Context, r *core.Repo, out ipld.CID) (*community.Partition, error) {
	derived := r.Derived()
	c, err := derived.Cell(ctx, CommunitiesKey(out))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rec, err := ReadCommunities(ctx, derived, c)
	if err != nil {
		return nil, err
	}
	if rec.Out != out {
		return nil, fmt.Errorf("%w: %s has the tree %s, not %s", store.ErrCorrupt, c, rec.Out, out)
	}
	p, err := rec.Decode(func(c ipld.CID) ([]byte, error) { return derived.Get(ctx, c) })
	if errors.Is(err, community.ErrInvalid) {
		err = fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return p, err
}

// ReadCommunities reads the root record of a partition, not its parts. The error wraps store.ErrCorrupt if the block
// does not decode.
func ReadCommunities(ctx context.Context, get store.Getter, c ipld.CID) (*community.Record, error) {
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, err
	}
	rec, err := community.DecodeRecord(block)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", c, store.ErrCorrupt, err)
	}
	return rec, nil
}

// findCommunities finds them and keeps them, if there are edges at all.
func findCommunities(ctx context.Context, r *core.Repo, s *state.State) (*community.Partition, error) {
	p, err := community.Find(ctx, CommunityEdges(ctx, s))
	if err != nil || r.Ro || s.Out.Len() == 0 {
		return p, err
	}
	derived := r.Derived()
	root, err := WriteCommunities(ctx, derived, s.Out.Root(), p)
	if err == nil {
		err = derived.SetCell(ctx, CommunitiesKey(s.Out.Root()), root)
	}
	if errors.Is(err, store.ErrNoRoom) { // they are found again
		err = nil
	}
	return p, err
}

// WriteCommunities writes the parts of a partition of the out tree with root out, then its root record, and returns
// the CID of that record.
func WriteCommunities(
	ctx context.Context, put store.Putter, out ipld.CID, p *community.Partition,
) (ipld.CID, error) {
	record, parts := p.Encode(out)
	for _, b := range parts {
		if err := put.Put(ctx, store.NewBlock(ipld.Raw, b)); err != nil {
			return ipld.CID{}, err
		}
	}
	root := store.NewBlock(ipld.DagCBOR, record)
	return root.CID, put.Put(ctx, root)
}

// CommunityEdges yields all edges from the out tree.
func CommunityEdges(ctx context.Context, s *state.State) iter.Seq2[community.Edge, error] {
	return func(yield func(community.Edge, error) bool) {
		for kv, err := range s.Out.Scan(ctx, nil, nil) {
			var src graph.ID
			var e adjacency.Entry
			if err == nil {
				src, e, err = adjacency.Parse(kv.Key, kv.Value)
			}
			if !yield(community.Edge{Src: src, Dst: e.Other, Weight: e.Weight}, err) || err != nil {
				return
			}
		}
	}
}

// communityName names the community that a node is in as a scope of digests, "" for none.
func communityName(p *community.Partition, id graph.ID) string {
	number, ok := p.Of(id)
	if !ok {
		return ""
	}
	return distill.CommunityName(p.Smallest(number))
}

// regrouped yields the nodes whose communities have another name in another state, by id.
func regrouped(ctx context.Context, r *core.Repo, from, to *state.State) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		if from.Out.Root() == to.Out.Root() {
			return // of the same edges
		}
		a, err := communitiesOf(ctx, r, from)
		if err != nil {
			yield(graph.ID{}, err)
			return
		}
		b, err := communitiesOf(ctx, r, to)
		if err != nil {
			yield(graph.ID{}, err)
			return
		}
		for _, p := range []*community.Partition{a, b} {
			for number := range p.Len() {
				for _, m := range p.Members(number) {
					if communityName(a, m.ID) != communityName(b, m.ID) && !yield(m.ID, nil) {
						return
					}
				}
			}
		}
	}
}

package repo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/community"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// maxOpenCommunities bounds how many graphs' communities a repository keeps in memory.
const maxOpenCommunities = 4

// openCommunities are the newest used communities, the most recent last.
type openCommunities struct {
	mu   sync.Mutex // held while some are found or kept
	outs []ipld.CID // roots of the out trees they are of
	list []*community.Partition
}

func (o *openCommunities) put(out ipld.CID, p *community.Partition) {
	if i := slices.Index(o.outs, out); i >= 0 {
		o.outs, o.list = slices.Delete(o.outs, i, i+1), slices.Delete(o.list, i, i+1)
	} else if len(o.outs) == maxOpenCommunities {
		o.outs, o.list = o.outs[1:], o.list[1:]
	}
	o.outs, o.list = append(o.outs, out), append(o.list, p)
}

// communitiesKey is the key of the cell that says which derived block has the communities of an
// out tree. Another version of the algorithm has other keys.
func communitiesKey(out ipld.CID) ipld.CID {
	name := fmt.Appendf(nil, "mnem:communities:%d:", community.Version)
	return ipld.Sum(ipld.Raw, append(name, out.Bytes()...))
}

// Communities returns the communities of the snapshot's edges, whatever the marks. They are found
// once and kept in memory and, where the repository is open for writing, in the store; a commit
// that changes no edge has those of the one before. It returns an error that wraps
// community.ErrTooLarge for a graph of too many edges, and store.ErrCorrupt where those kept are
// damaged: Repair drops them.
func (s *Snapshot) Communities(ctx context.Context) (*community.Partition, error) {
	return s.repo.communitiesOf(ctx, s.state)
}

func (r *Repo) communitiesOf(ctx context.Context, s *state) (*community.Partition, error) {
	o, out := &r.communities, s.out.Root()
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.outs, out); i >= 0 {
		p := o.list[i]
		o.put(out, p)
		return p, nil
	}
	p, err := r.keptCommunities(ctx, out)
	if err == nil && p == nil {
		p, err = r.findCommunities(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("communities: %w", err)
	}
	o.put(out, p)
	return p, nil
}

// keptCommunities reads the communities of an out tree from the store, nil where it has none.
func (r *Repo) keptCommunities(ctx context.Context, out ipld.CID) (*community.Partition, error) {
	derived := r.derived()
	c, err := derived.Cell(ctx, communitiesKey(out))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rec, err := readCommunities(ctx, derived, c)
	if err != nil {
		return nil, err
	}
	if rec.Out != out {
		return nil, fmt.Errorf("%w: %s is of the tree %s, not of %s", store.ErrCorrupt, c, rec.Out, out)
	}
	p, err := rec.Decode(func(c ipld.CID) ([]byte, error) { return derived.Get(ctx, c) })
	if errors.Is(err, community.ErrInvalid) {
		err = fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return p, err
}

func readCommunities(
	ctx context.Context, get store.Getter, c ipld.CID,
) (*community.Record, error) {
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

// findCommunities finds them and keeps them, where there are edges at all.
func (r *Repo) findCommunities(ctx context.Context, s *state) (*community.Partition, error) {
	p, err := community.Find(ctx, s.communityEdges(ctx))
	if err != nil || r.ro || s.out.Len() == 0 {
		return p, err
	}
	derived := r.derived()
	root, err := writeCommunities(ctx, derived, s.out.Root(), p)
	if err == nil {
		err = derived.SetCell(ctx, communitiesKey(s.out.Root()), root)
	}
	if errors.Is(err, store.ErrNoRoom) { // they are found again
		err = nil
	}
	return p, err
}

func writeCommunities(
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

// communityEdges yields all edges from the out tree.
func (s *state) communityEdges(ctx context.Context) iter.Seq2[community.Edge, error] {
	return func(yield func(community.Edge, error) bool) {
		for kv, err := range s.out.Scan(ctx, nil, nil) {
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

// Community makes the view one of retrieve.Grouped.
func (g graphView) Community(ctx context.Context, id graph.ID) (*retrieve.Community, error) {
	p, err := g.s.Communities(ctx)
	if err != nil {
		return nil, err
	}
	number, ok := p.Of(id)
	if !ok {
		return nil, nil
	}
	return &retrieve.Community{Number: number, Members: p.Members(number)}, nil
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
func (r *Repo) regrouped(ctx context.Context, from, to *state) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		if from.out.Root() == to.out.Root() {
			return // of the same edges
		}
		a, err := r.communitiesOf(ctx, from)
		if err != nil {
			yield(graph.ID{}, err)
			return
		}
		b, err := r.communitiesOf(ctx, to)
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

// sweepCommunities tells a collection what to do about a cell that is no index's: it returns the
// blocks of communities that are kept, none where the cell is to go. Damaged ones go, and are made
// anew when they are needed.
func (g *collector) sweepCommunities(key, value ipld.CID) ([]ipld.CID, error) {
	rec, err := readCommunities(g.ctx, g.repo.derived(), value)
	if errors.Is(err, store.ErrCorrupt) {
		return nil, nil
	}
	if err != nil || !g.marks.has(rec.Out) || communitiesKey(rec.Out) != key {
		return nil, err
	}
	return append(rec.Parts, value), nil
}

// communities checks that those kept of a graph are what its edges make them.
func (f *fsck) communities(s *Snapshot) {
	derived := f.repo.store.Derived()
	out := s.state.out.Root()
	key := communitiesKey(out)
	kept, err := derived.Cell(f.ctx, key)
	if errors.Is(err, store.ErrNotFound) || f.trees[key] {
		return
	}
	f.trees[key] = true
	if err != nil {
		f.fail(s.id, FsckIndex, err)
		return
	}
	if _, err := f.repo.keptCommunities(f.ctx, out); err != nil {
		f.add(kept, FsckIndex, "communities: %v", err)
		return
	}
	p, err := community.Find(f.ctx, s.state.communityEdges(f.ctx))
	if err != nil { // it says nothing about what is kept
		f.fail(s.id, FsckTree, err)
		return
	}
	buffer := store.NewStage(derived, 0)
	if want, err := writeCommunities(f.ctx, buffer, out, p); err != nil || want != kept {
		f.add(kept, FsckIndex, "communities that are not those of the edges of commit %s", s.id)
	}
}

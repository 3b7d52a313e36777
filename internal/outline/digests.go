// Package outline stores the digests of a graph and its communities. They are derived data: computed from a snapshot,
// updated with its changes, and stored until they are collected. Texts of digests that models wrote are facts, in
// commits.
package outline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// maxDigestSteps is how many commits back digests are looked for to begin with.
	maxDigestSteps = 1000

	kindDigests    = "digests"
	digestsVersion = 2
)

// Digests are the digests of a snapshot.
type Digests struct {
	distill.Tree
	Recipe distill.Recipe
	Graph  ipld.CID
	Blocks store.Getter // the store that has the digests
	Reader distill.Reader
	Work   distill.Work // that it took to make them, nothing if they were kept
	Kept   bool         // whether the repository keeps them
	Found  bool         // whether they, or those of an earlier commit, were stored
}

// Above returns the digests that a fact is in, the nearest first.
func (d *Digests) Above(ctx context.Context, id graph.ID) ([]*distill.Digest, error) {
	return d.Tree.Above(ctx, d.Blocks, d.Reader, id)
}

// DigestsKey is the key of the cell that names the derived block with the digests of a graph. It includes their format
// and the version of the guard's rules: digests of another format or made by other rules are not found, and are
// collected.
func DigestsKey(graph ipld.CID, recipe distill.Recipe) ipld.CID {
	return DigestsKeyUnder(graph, recipe, guard.Version())
}

// DigestsKeyUnder is DigestsKey under another version of the guard's rules, as guard.Version returns it.
func DigestsKeyUnder(graph ipld.CID, recipe distill.Recipe, rules [sha256.Size]byte) ipld.CID {
	hash := recipe.Hash()
	key := append(append(fmt.Appendf(nil, "mnem:digests:%d:", digestsVersion), hash[:]...), rules[:]...)
	return ipld.Sum(ipld.Raw, graph.Append(key))
}

// MayHoldCredential reports whether a text has a credential that must not be written.
func MayHoldCredential(s string) bool {
	return slices.ContainsFunc(guard.Find(s), func(f guard.Finding) bool { return f.Level == guard.Refuses })
}

// DigestOptions say what becomes of digests that are made.
type DigestOptions struct {
	Keep bool // whether they are kept, if the repository is open for writing
	Only bool // whether they are made only if some were kept before; if not, Found is false
}

// Open returns the digests of the snapshot's graph: the stored ones, or else ones computed from those of the nearest
// earlier commit that has some. The result is the same either way.
func Open(ctx context.Context, s *core.Snapshot, recipe distill.Recipe, opt DigestOptions) (*Digests, error) {
	r := s.Repo
	key := DigestsKey(s.State.Root, recipe)
	r.Digests.Mu.Lock()
	defer r.Digests.Mu.Unlock()
	if open, ok := r.Digests.Get(key); ok {
		if d := *open.(*Digests); d.Kept || !opt.Keep || r.Ro {
			d.Work, d.Found = distill.Work{}, true
			return &d, nil
		}
	}
	d, err := KeptDigests(ctx, r, s.State, recipe)
	if err == nil && d == nil {
		d, err = makeDigests(ctx, s, recipe, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("digests: %w", err)
	}
	if d.Scopes != nil {
		r.Digests.Put(key, d)
	}
	return d, nil
}

// KeptDigests reads the digests of a state from the store, nil if it has none.
func KeptDigests(ctx context.Context, r *core.Repo, s *state.State, recipe distill.Recipe) (*Digests, error) {
	derived := r.Derived()
	c, err := derived.Cell(ctx, DigestsKey(s.Root, recipe))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rec, err := ReadDigests(ctx, derived, c)
	if err != nil {
		return nil, err
	}
	if rec.Graph != s.Root || rec.Recipe.Hash() != recipe.Hash() {
		return nil, fmt.Errorf("%w: %s has the graph %s, not %s", store.ErrCorrupt, c, rec.Graph, s.Root)
	}
	trees, err := DigestTrees(ctx, r, rec)
	if err != nil {
		return nil, err
	}
	return &Digests{
		Tree: distill.Tree{Root: rec.Root, Scopes: trees[0], Hashes: trees[1]}, Recipe: recipe, Graph: s.Root,
		Blocks: derived, Reader: NewDigestReader(r, s, recipe), Kept: true, Found: true,
	}, nil
}

// DigestTrees are the trees of digests that are kept: of scopes and of hashes.
func DigestTrees(ctx context.Context, r *core.Repo, rec *DigestsRecord) (trees [2]*prolly.Map, err error) {
	nodes := prolly.NewNodes(store.NewStage(r.Derived(), 0), r.Trees)
	for i, root := range []ipld.CID{rec.scopes, rec.hashes} {
		if trees[i], err = nodes.Load(ctx, root); err != nil {
			return trees, err
		}
	}
	return trees, nil
}

// DigestsRecord is the head of digests that are kept.
type DigestsRecord struct {
	Root   ipld.CID // undefined if there is no fact
	Graph  ipld.CID
	hashes ipld.CID
	scopes ipld.CID
	Recipe distill.Recipe
}

func (d *DigestsRecord) fields(r *ipld.Record) {
	r.Begin(kindDigests, digestsVersion, nil)
	r.OptLink("root", &d.Root)
	r.OptLink("graph", &d.Graph)
	r.Field("rules", d.Recipe.Append, func(in *ipld.Decoder) (err error) {
		d.Recipe, err = distill.DecodeRules(in)
		return err
	})
	r.Link("hashes", &d.hashes)
	r.Link("scopes", &d.scopes)
}

func (d *DigestsRecord) encode() []byte { return ipld.WriteRecord(256, d.fields) }

// ReadDigests reads the head of digests. Its error wraps store.ErrCorrupt for a block that is none.
func ReadDigests(ctx context.Context, get store.Getter, c ipld.CID) (*DigestsRecord, error) {
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, err
	}
	rec := new(DigestsRecord)
	rec, err = ipld.ReadRecord(block, rec, rec.fields, nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", c, store.ErrCorrupt, err)
	}
	return rec, nil
}

// makeDigests computes the digests of the snapshot, and stores them if the repository is writable. Its caller holds the
// lock.
func makeDigests(
	ctx context.Context, s *core.Snapshot, recipe distill.Recipe, opt DigestOptions,
) (*Digests, error) {
	r := s.Repo
	base, from, err := nearestDigests(ctx, s, recipe)
	if err != nil {
		return nil, err
	}
	if base == nil && opt.Only {
		return &Digests{Recipe: recipe}, nil
	}
	derived := r.Derived()
	buffer := store.NewStage(derived, 0)
	keep := opt.Keep && !r.Ro && s.State.Root.Defined()
	if keep {
		buffer = store.NewStageBehind(derived, state.StageLimit)
		defer buffer.Wait()
	}
	d, head, err := UpdateDigests(ctx, r, buffer, recipe, base, from, s.State)
	if err != nil {
		return nil, err
	}
	d.Found = base != nil
	if !keep {
		return d, nil
	}
	if err := buffer.Flush(ctx); err != nil {
		return nil, err
	}
	if err := derived.SetCell(ctx, DigestsKey(s.State.Root, recipe), head); err != nil {
		return nil, err
	}
	return keptAgain(ctx, r, s.State, d)
}

// keptAgain returns digests that were written as those that are kept.
func keptAgain(ctx context.Context, r *core.Repo, s *state.State, made *Digests) (*Digests, error) {
	d, err := KeptDigests(ctx, r, s, made.Recipe)
	if err == nil && d == nil {
		err = fmt.Errorf("%w: digests that were kept are gone", store.ErrCorrupt)
	}
	if err == nil {
		d.Work, d.Found = made.Work, made.Found
	}
	return d, err
}

// UpdateDigests computes digests from those of another state, nil for none, and writes them and their head.
func UpdateDigests(
	ctx context.Context, r *core.Repo, buffer *store.Stage, recipe distill.Recipe, base *Digests, from, to *state.State,
) (*Digests, ipld.CID, error) {
	nodes := prolly.NewNodes(buffer, r.Trees)
	u := distill.Update{
		Blocks: buffer, Recipe: recipe, Refuse: MayHoldCredential, Old: NewDigestReader(r, from, recipe),
		New: NewDigestReader(r, to, recipe), Touched: touchedDigests(ctx, r, recipe, from, to),
	}
	var err error
	if base != nil {
		u.Base.Root = base.Root
		if u.Base.Scopes, err = nodes.Load(ctx, base.Scopes.Root()); err == nil {
			u.Base.Hashes, err = nodes.Load(ctx, base.Hashes.Root())
		}
	} else {
		u.Base.Scopes, err = state.EmptyTree(ctx, nodes)
		u.Base.Hashes = u.Base.Scopes
	}
	if err != nil {
		return nil, ipld.CID{}, err
	}
	tree, work, err := u.Run(ctx)
	if err != nil {
		return nil, ipld.CID{}, err
	}
	record := &DigestsRecord{tree.Root, to.Root, tree.Hashes.Root(), tree.Scopes.Root(), recipe}
	head := store.NewBlock(ipld.DagCBOR, record.encode())
	d := &Digests{Tree: tree, Recipe: recipe, Graph: to.Root, Blocks: buffer, Reader: u.New, Work: work}
	return d, head.CID, buffer.Put(ctx, head)
}

// nearestDigests walks first parents to a commit whose digests are kept, nil and the empty state for none.
func nearestDigests(ctx context.Context, s *core.Snapshot, recipe distill.Recipe) (*Digests, *state.State, error) {
	r := s.Repo
	rec := s.Record
	for range maxDigestSteps {
		if rec == nil || len(rec.Parents) == 0 {
			break
		}
		parent, err := r.At(ctx, rec.Parents[0])
		if err != nil {
			return nil, nil, err
		}
		d, err := KeptDigests(ctx, r, parent.State, recipe)
		if d != nil || err != nil {
			return d, parent.State, err
		}
		rec = parent.Record
	}
	empty, err := r.LoadState(ctx, state.Roots{})
	return nil, empty, err
}

// touchedDigests yields the nodes whose texts, marks or scopes differ between two states.
func touchedDigests(
	ctx context.Context, r *core.Repo, recipe distill.Recipe, from, to *state.State,
) func(yield func(graph.ID, error) bool) {
	return func(yield func(graph.ID, error) bool) {
		if recipe.HasRule(distill.ByCommunity) {
			for id, err := range regrouped(ctx, r, from, to) {
				if !yield(id, err) || err != nil {
					return
				}
			}
		}
		for _, tree := range []struct {
			from, to *prolly.Map
			nodes    func(prolly.Change) ([]graph.ID, error)
		}{
			{from.Nodes, to.Nodes, func(c prolly.Change) ([]graph.ID, error) { return []graph.ID{graph.ID(c.Key)}, nil }},
			{from.Out, to.Out, func(c prolly.Change) ([]graph.ID, error) { return outEnds(recipe, c) }},
			{from.Marks, to.Marks, func(c prolly.Change) ([]graph.ID, error) { return markEnds(ctx, c, from, to) }},
		} {
			for c, err := range prolly.Diff(ctx, tree.from, tree.to) {
				var ids []graph.ID
				if err == nil {
					ids, err = tree.nodes(c)
				}
				for _, id := range ids {
					if !yield(id, nil) {
						return
					}
				}
				if err != nil {
					yield(graph.ID{}, err)
					return
				}
			}
		}
	}
}

// outEnds returns the ends of an edge that came or went, none of one that makes no scope.
func outEnds(recipe distill.Recipe, c prolly.Change) ([]graph.ID, error) {
	if c.Old != nil && c.New != nil { // another weight
		return nil, nil
	}
	value := c.New
	if value == nil {
		value = c.Old
	}
	src, e, err := adjacency.Parse(c.Key, value)
	if err != nil || !slices.Contains(recipe.Rules, distill.Rule{Kind: distill.ByEdge, Name: e.Type}) {
		return nil, err
	}
	return []graph.ID{src, e.Other}, nil
}

// markEnds returns the node that a mark is on, or the ends of the edge.
func markEnds(ctx context.Context, c prolly.Change, from, to *state.State) ([]graph.ID, error) {
	on, id, err := graph.ParseMarkKey(c.Key)
	if err != nil || on == graph.OnNode {
		return []graph.ID{id}, err
	}
	for _, s := range []*state.State{to, from} {
		e, _, err := s.Edge(ctx, id)
		if err != nil && !errors.Is(err, store.ErrRedacted) {
			return nil, err
		}
		if e != nil {
			return []graph.ID{e.Src, e.Dst}, nil
		}
	}
	return nil, nil
}

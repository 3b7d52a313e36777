package repo

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

const (
	// maxOpenDigests bounds how many graphs' digests a repository keeps open, which is little more than
	// their links.
	maxOpenDigests = 4
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
	Blocks store.Getter // that has them
	Reader distill.Reader
	Work   distill.Work // that it took to make them, nothing where they were kept
	Kept   bool         // whether the repository keeps them
	Found  bool         // whether they, or those of a commit before, had been kept
}

// Above returns the digests that a fact is in, the nearest first.
func (d *Digests) Above(ctx context.Context, id graph.ID) ([]*distill.Digest, error) {
	return d.Tree.Above(ctx, d.Blocks, d.Reader, id)
}

// openDigests are the newest used digests, the most recent last.
type openDigests struct {
	mu   sync.Mutex // held while some are made
	keys []ipld.CID
	list []any // each *Digests
}

func (o *openDigests) put(key ipld.CID, d any) {
	if i := slices.Index(o.keys, key); i >= 0 {
		o.keys, o.list = slices.Delete(o.keys, i, i+1), slices.Delete(o.list, i, i+1)
	} else if len(o.keys) == maxOpenDigests {
		o.keys, o.list = o.keys[1:], o.list[1:]
	}
	o.keys, o.list = append(o.keys, key), append(o.list, d)
}

func (o *openDigests) forget() { o.keys, o.list = nil, nil }

// digestsKey is the key of the cell that says which derived block has the digests of a graph. It has their form and
// the rules of the guard in it: what has another form or was made by others is not found, and is collected.
func digestsKey(graph ipld.CID, recipe distill.Recipe) ipld.CID {
	return digestsKeyUnder(graph, recipe, guard.Version())
}

func digestsKeyUnder(graph ipld.CID, recipe distill.Recipe, rules [sha256.Size]byte) ipld.CID {
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
	Keep bool // whether they are kept, where the repository is open for writing
	Only bool // whether they are only made where some were kept before: else nothing is, and Found is false
}

// Digests returns the digests of the snapshot's graph: those that are kept, or else made from those of the
// nearest commit before that has some. The result is the same either way.
func (s *Snapshot) Digests(
	ctx context.Context, recipe distill.Recipe, opt DigestOptions,
) (*Digests, error) {
	r := s.repo
	key := digestsKey(s.state.root, recipe)
	r.digests.mu.Lock()
	defer r.digests.mu.Unlock()
	if i := slices.Index(r.digests.keys, key); i >= 0 && (r.digests.list[i].(*Digests).Kept || !opt.Keep || r.ro) {
		d := *r.digests.list[i].(*Digests)
		d.Work, d.Found = distill.Work{}, true
		return &d, nil
	}
	d, err := r.keptDigests(ctx, s.state, recipe)
	if err == nil && d == nil {
		d, err = s.makeDigests(ctx, recipe, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("digests: %w", err)
	}
	if d.Scopes != nil {
		r.digests.put(key, d)
	}
	return d, nil
}

// keptDigests reads the digests of a state from the store, nil where it has none.
func (r *Repo) keptDigests(
	ctx context.Context, s *state, recipe distill.Recipe,
) (*Digests, error) {
	derived := r.derived()
	c, err := derived.Cell(ctx, digestsKey(s.root, recipe))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rec, err := readDigests(ctx, derived, c)
	if err != nil {
		return nil, err
	}
	if rec.graph != s.root || rec.recipe.Hash() != recipe.Hash() {
		return nil, fmt.Errorf("%w: %s is of the graph %s, not of %s", store.ErrCorrupt, c, rec.graph, s.root)
	}
	trees, err := r.digestTrees(ctx, rec)
	if err != nil {
		return nil, err
	}
	return &Digests{
		Tree: distill.Tree{Root: rec.root, Scopes: trees[0], Hashes: trees[1]}, Recipe: recipe, Graph: s.root,
		Blocks: derived, Reader: newDigestReader(r, s, recipe), Kept: true, Found: true,
	}, nil
}

// digestTrees are the trees of digests that are kept: of scopes and of hashes.
func (r *Repo) digestTrees(ctx context.Context, rec *digestsRecord) (trees [2]*prolly.Map, err error) {
	nodes := prolly.NewNodes(store.NewStage(r.derived(), 0), r.trees)
	for i, root := range []ipld.CID{rec.scopes, rec.hashes} {
		if trees[i], err = nodes.Load(ctx, root); err != nil {
			return trees, err
		}
	}
	return trees, nil
}

// digestsRecord is the head of digests that are kept.
type digestsRecord struct {
	root   ipld.CID // undefined where there is no fact
	graph  ipld.CID
	hashes ipld.CID
	scopes ipld.CID
	recipe distill.Recipe
}

func (d digestsRecord) encode() []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(digestsVersion)
	w.Kind(kindDigests)
	w.OptLink("root", d.root)
	w.OptLink("graph", d.graph)
	w.Append("rules", d.recipe.Append)
	w.Link("hashes", d.hashes)
	w.Link("scopes", d.scopes)
	return w.Finish()
}

// readDigests reads the head of digests. Its error wraps store.ErrCorrupt for a block that is none.
func readDigests(ctx context.Context, get store.Getter, c ipld.CID) (*digestsRecord, error) {
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, err
	}
	rec := new(digestsRecord)
	extra, err := ipld.DecodeRecord(block, kindDigests, digestsVersion,
		func(key string, d *ipld.Decoder) (bool, error) {
			var err error
			switch key {
			case "root":
				rec.root, err = d.Link()
			case "graph":
				rec.graph, err = d.Link()
			case "rules":
				rec.recipe, err = distill.DecodeRules(d)
			case "hashes":
				rec.hashes, err = d.Link()
			case "scopes":
				rec.scopes, err = d.Link()
			default:
				return false, nil
			}
			return true, err
		})
	if err == nil && (len(extra) > 0 || len(rec.recipe.Rules) == 0 || !rec.hashes.Defined() || !rec.scopes.Defined()) {
		err = errors.New("fields are missing or unknown")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", c, store.ErrCorrupt, err)
	}
	return rec, nil
}

// makeDigests makes the digests of the snapshot, and keeps them where it may. Its caller holds the lock.
func (s *Snapshot) makeDigests(
	ctx context.Context, recipe distill.Recipe, opt DigestOptions,
) (*Digests, error) {
	r := s.repo
	base, from, err := s.nearestDigests(ctx, recipe)
	if err != nil {
		return nil, err
	}
	if base == nil && opt.Only {
		return &Digests{Recipe: recipe}, nil
	}
	derived := r.derived()
	buffer := store.NewStage(derived, 0)
	keep := opt.Keep && !r.ro && s.state.root.Defined()
	if keep {
		buffer = store.NewStageBehind(derived, stageLimit)
		defer buffer.Wait()
	}
	d, head, err := r.updateDigests(ctx, buffer, recipe, base, from, s.state)
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
	if err := derived.SetCell(ctx, digestsKey(s.state.root, recipe), head); err != nil {
		return nil, err
	}
	return r.keptAgain(ctx, s.state, d)
}

// keptAgain returns digests that were written as those that are kept.
func (r *Repo) keptAgain(ctx context.Context, s *state, made *Digests) (*Digests, error) {
	d, err := r.keptDigests(ctx, s, made.Recipe)
	if err == nil && d == nil {
		err = fmt.Errorf("%w: digests that were kept are gone", store.ErrCorrupt)
	}
	if err == nil {
		d.Work, d.Found = made.Work, made.Found
	}
	return d, err
}

// updateDigests makes digests from those of another state, nil for none, and writes them and their head.
func (r *Repo) updateDigests(
	ctx context.Context, buffer *store.Stage, recipe distill.Recipe, base *Digests, from, to *state,
) (*Digests, ipld.CID, error) {
	nodes := prolly.NewNodes(buffer, r.trees)
	u := distill.Update{
		Blocks: buffer, Recipe: recipe, Refuse: MayHoldCredential, Old: newDigestReader(r, from, recipe),
		New: newDigestReader(r, to, recipe), Touched: r.touchedDigests(ctx, recipe, from, to),
	}
	var err error
	if base != nil {
		u.Base.Root = base.Root
		if u.Base.Scopes, err = nodes.Load(ctx, base.Scopes.Root()); err == nil {
			u.Base.Hashes, err = nodes.Load(ctx, base.Hashes.Root())
		}
	} else {
		u.Base.Scopes, err = emptyTree(ctx, nodes)
		u.Base.Hashes = u.Base.Scopes
	}
	if err != nil {
		return nil, ipld.CID{}, err
	}
	tree, work, err := u.Run(ctx)
	if err != nil {
		return nil, ipld.CID{}, err
	}
	head := store.NewBlock(ipld.DagCBOR, digestsRecord{
		tree.Root, to.root, tree.Hashes.Root(), tree.Scopes.Root(), recipe,
	}.encode())
	d := &Digests{Tree: tree, Recipe: recipe, Graph: to.root, Blocks: buffer, Reader: u.New, Work: work}
	return d, head.CID, buffer.Put(ctx, head)
}

// nearestDigests walks first parents to a commit whose digests are kept, nil and the empty state for none.
func (s *Snapshot) nearestDigests(
	ctx context.Context, recipe distill.Recipe,
) (*Digests, *state, error) {
	r := s.repo
	rec := s.commit
	for range maxDigestSteps {
		if rec == nil || len(rec.Parents) == 0 {
			break
		}
		parent, err := r.At(ctx, rec.Parents[0])
		if err != nil {
			return nil, nil, err
		}
		d, err := r.keptDigests(ctx, parent.state, recipe)
		if d != nil || err != nil {
			return d, parent.state, err
		}
		rec = parent.commit
	}
	empty, err := r.loadState(ctx, roots{})
	return nil, empty, err
}

// touchedDigests yields the nodes whose texts, marks or scopes differ between two states.
func (r *Repo) touchedDigests(
	ctx context.Context, recipe distill.Recipe, from, to *state,
) func(yield func(graph.ID, error) bool) {
	return func(yield func(graph.ID, error) bool) {
		if recipe.HasRule(distill.ByCommunity) {
			for id, err := range r.regrouped(ctx, from, to) {
				if !yield(id, err) || err != nil {
					return
				}
			}
		}
		for c, err := range prolly.Diff(ctx, from.nodes, to.nodes) {
			var id graph.ID
			if err == nil {
				id = graph.ID(c.Key)
			}
			if !yield(id, err) || err != nil {
				return
			}
		}
		for c, err := range prolly.Diff(ctx, from.out, to.out) {
			ends, err := outEnds(recipe, c, err)
			for _, id := range ends {
				if !yield(id, nil) {
					return
				}
			}
			if err != nil {
				yield(graph.ID{}, err)
				return
			}
		}
		for c, err := range prolly.Diff(ctx, from.marks, to.marks) {
			ends, err := markEnds(ctx, c, err, from, to)
			for _, id := range ends {
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

// outEnds returns the ends of an edge that came or went, none of one that makes no scope.
func outEnds(recipe distill.Recipe, c prolly.Change, err error) ([]graph.ID, error) {
	if err != nil || c.Old != nil && c.New != nil { // another weight
		return nil, err
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
func markEnds(
	ctx context.Context, c prolly.Change, err error, from, to *state,
) ([]graph.ID, error) {
	if err != nil {
		return nil, err
	}
	on, id, err := graph.ParseMarkKey(c.Key)
	if err != nil || on == graph.OnNode {
		return []graph.ID{id}, err
	}
	for _, s := range []*state{to, from} {
		e, _, err := s.edge(ctx, id)
		if err != nil && !errors.Is(err, store.ErrRedacted) {
			return nil, err
		}
		if e != nil {
			return []graph.ID{e.Src, e.Dst}, nil
		}
	}
	return nil, nil
}

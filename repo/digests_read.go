package repo

import (
	"context"
	"errors"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// maxScopeValue is the longest value of a property that is a scope, in bytes of JSON.
const maxScopeValue = 512

// digestReader is a state as digests see it.
type digestReader struct {
	r     *Repo
	s     *state
	rules []distill.Rule
}

func newDigestReader(r *Repo, s *state, recipe distill.Recipe) digestReader {
	return digestReader{r, s, recipe.Rules}
}

func (d digestReader) Fact(ctx context.Context, id graph.ID) (*distill.Fact, error) {
	n, err := d.node(ctx, id)
	if err != nil || n == nil {
		return nil, err
	}
	content := ""
	if n.Content != nil {
		content, err = d.s.contentStart(ctx, n.Content, distill.MaxText*utf8.UTFMax)
		if err != nil && !errors.Is(err, store.ErrRedacted) {
			return nil, err
		}
		content = text.FirstScalars(content, distill.MaxText)
	}
	m, err := d.s.mark(ctx, graph.OnNode, id)
	if err != nil {
		return nil, err
	}
	return &distill.Fact{
		ID: id, Key: n.Key, Text: distill.TextOf(n, content), Created: n.Created, Until: n.ValidTo,
		Hidden: m != nil && retrieve.Hidden(m.State),
	}, nil
}

// node returns a node, nil where there is none or it was erased.
func (d digestReader) node(ctx context.Context, id graph.ID) (*graph.Node, error) {
	n, _, err := d.s.node(ctx, id)
	if errors.Is(err, store.ErrRedacted) {
		return nil, nil
	}
	return n, err
}

func (d digestReader) Up(ctx context.Context, id graph.ID) ([]distill.Target, error) {
	var out []distill.Target
	var n *graph.Node
	for rule, r := range d.rules {
		if r.Kind == distill.ByEdge {
			for other, err := range d.ends(ctx, d.s.out, id, r.Name) {
				if err != nil {
					return nil, err
				}
				out = append(out, distill.Target{ID: other, Rule: rule})
			}
			continue
		}
		if n == nil {
			var err error
			if n, err = d.node(ctx, id); n == nil || err != nil {
				return out, err
			}
		}
		name, err := d.scopeName(ctx, n, r)
		if err != nil {
			return nil, err
		}
		if name != "" {
			out = append(out, distill.Target{ID: distill.PseudoScope(name), Rule: rule, Name: name})
		}
	}
	slices.SortStableFunc(out, func(a, b distill.Target) int { return a.ID.Compare(b.ID) })
	return slices.CompactFunc(out, func(a, b distill.Target) bool { return a.ID == b.ID }), nil
}

// scopeName names the scope that a node is in by its type, its community or a property, "" for none.
func (d digestReader) scopeName(ctx context.Context, n *graph.Node, r distill.Rule) (string, error) {
	switch r.Kind {
	case distill.ByType:
		return "type " + text.EscapeLine(n.Type), nil
	case distill.ByCommunity:
		p, err := d.r.communitiesOf(ctx, d.s)
		if err != nil {
			return "", err
		}
		return communityName(p, n.ID), nil
	}
	v, ok := ipld.FindEntry(n.Props, r.Name)
	if !ok {
		return "", nil
	}
	switch v.Kind() {
	case ipld.String, ipld.Int, ipld.Float, ipld.Bool:
	default:
		return "", nil
	}
	value := ipld.AppendJSON(nil, v)
	if len(value) > maxScopeValue {
		return "", nil
	}
	return "prop " + text.EscapeLine(r.Name+"="+string(value)), nil
}

func (d digestReader) Down(ctx context.Context, id graph.ID) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		for _, r := range d.rules {
			if r.Kind != distill.ByEdge {
				continue
			}
			for other, err := range d.ends(ctx, d.s.in, id, r.Name) {
				if !yield(other, err) || err != nil {
					return
				}
			}
		}
	}
}

// ends yields the other ends of a node's edges of a type that no mark hides, in their order.
func (d digestReader) ends(
	ctx context.Context, tree *prolly.Map, id graph.ID, typ string,
) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		if tree.Len() == 0 {
			return
		}
		for kv, err := range tree.ScanPrefix(ctx, adjacency.Prefix(id, typ)) {
			var e adjacency.Entry
			var m *graph.Mark
			if err == nil {
				_, e, err = adjacency.Parse(kv.Key, kv.Value)
			}
			if err == nil {
				m, err = d.s.mark(ctx, graph.OnEdge, e.Edge)
			}
			if err != nil {
				yield(graph.ID{}, err)
				return
			}
			if e.Other == id || m != nil && retrieve.Hidden(m.State) {
				continue
			}
			if !yield(e.Other, nil) {
				return
			}
		}
	}
}

// sweepDigests tells a collection what to do about a cell that may be one of digests: it returns the blocks
// that are kept, none where the cell is to go. Damaged ones go, and are made anew when they are needed.
func (g *collector) sweepDigests(key, value ipld.CID) (kept []ipld.CID, err error) {
	derived := g.repo.derived()
	rec, err := readDigests(g.ctx, derived, value)
	if err == nil {
		if digestsKey(rec.graph, rec.recipe) != key || !g.marks.has(rec.graph) {
			return nil, nil
		}
		kept, err = g.digestBlocks(rec)
		kept = append(kept, value)
	}
	if errors.Is(err, store.ErrCorrupt) {
		return nil, nil
	}
	return kept, err
}

// digestBlocks returns the blocks of digests that are not known to stay.
func (g *collector) digestBlocks(rec *digestsRecord) (kept []ipld.CID, err error) {
	derived := g.repo.derived()
	var seen cidSet
	take := func(c ipld.CID) (bool, error) {
		if g.live.Has(c) || !seen.Add(c) {
			return false, nil
		}
		kept = append(kept, c)
		return true, nil
	}
	if err := distill.Walk(g.ctx, derived, rec.root, take); err != nil {
		return nil, err
	}
	trees, err := g.repo.digestTrees(g.ctx, rec)
	if err != nil {
		return nil, err
	}
	for _, tree := range trees {
		if err := tree.Walk(g.ctx, func(c ipld.CID, _ int) (bool, error) { return take(c) }); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// digests checks that those kept of a graph by the recipe that is used where nothing is said are what its
// facts make them: from those of the state before where these are kept, which are checked in their turn.
func (f *fsck) digests(s *Snapshot, before *state) {
	recipe := distill.Default()
	key := digestsKey(s.state.root, recipe)
	if f.trees[key] {
		return
	}
	f.trees[key] = true
	kept, err := f.repo.store.Derived().Cell(f.ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	if err != nil {
		f.fail(s.id, FsckIndex, err)
		return
	}
	if _, err := f.repo.keptDigests(f.ctx, s.state, recipe); err != nil {
		f.add(kept, FsckIndex, "digests: %v", err)
		return
	}
	var base *Digests
	if before != nil {
		base, _ = f.repo.keptDigests(f.ctx, before, recipe) // damage is told of in its turn
	}
	if base == nil {
		if before, err = f.repo.loadState(f.ctx, roots{}); err != nil {
			f.fail(s.id, FsckStore, err)
			return
		}
	}
	buffer := store.NewStage(f.repo.derived(), 0)
	_, want, err := f.repo.updateDigests(f.ctx, buffer, recipe, base, before, s.state)
	if err == nil && want == kept {
		err = f.digestsAreThere(kept)
	}
	if err != nil {
		f.add(kept, FsckIndex, "digests: %v", err)
		return
	}
	if want != kept {
		f.add(kept, FsckIndex, "digests that are not those of the facts of commit %s", s.id)
	}
}

// digestsAreThere reads all digests that were not read before.
func (f *fsck) digestsAreThere(head ipld.CID) error {
	derived := f.repo.derived()
	rec, err := readDigests(f.ctx, derived, head)
	if err != nil {
		return err
	}
	trees, err := f.repo.digestTrees(f.ctx, rec)
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if f.trees[tree.Root()] {
			continue
		}
		f.trees[tree.Root()] = true
		if err := tree.Check(f.ctx); err != nil {
			return err
		}
	}
	return distill.Walk(f.ctx, derived, rec.root, func(c ipld.CID) (bool, error) {
		again := f.trees[c]
		f.trees[c] = true
		return !again, nil
	})
}

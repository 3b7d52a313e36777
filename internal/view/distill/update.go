package distill

import (
	"context"
	"crypto/sha256"
	"iter"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/ipld"
)

// Work counts the work of an update.
type Work struct {
	Digests int // that were made
	Read    int // digests that were read
	Facts   int // whose texts were read
}

// Tree is the digests of one graph. Both maps are there, if empty.
type Tree struct {
	Root   ipld.CID    // of the root's digest; undefined if there is no fact
	Scopes *prolly.Map // the id of each scope to the link of its digest
	Hashes *prolly.Map // finds digests and facts by their texts
}

// Update computes the digests of a graph from those of another.
type Update struct {
	Blocks Blocks
	Recipe Recipe
	Refuse func(text string) bool // whether a text may hold a credential; nil for none
	Base   Tree
	Old    Reader // of the graph of Base
	New    Reader
	// Touched are nodes that changed, or whose mark or edges by rules, or marks on these, did. A node may
	// come more than once.
	Touched iter.Seq2[graph.ID, error]
}

// Run returns the digests: the same from whatever base.
func (u *Update) Run(ctx context.Context) (Tree, Work, error) {
	r := &updating{
		Update: u, ctx: ctx, recipe: u.Recipe.Hash(), old: newView(ctx, u.Old), new: newView(ctx, u.New),
		edits: map[graph.ID][]edit{}, dead: map[graph.ID]bool{}, live: map[graph.ID]*scopeInfo{},
		seen: map[graph.ID]bool{}, names: map[graph.ID]string{},
	}
	if r.Refuse == nil {
		r.Refuse = func(string) bool { return false }
	}
	if err := r.place(); err != nil {
		return Tree{}, r.work, err
	}
	tree, err := r.digest()
	return tree, r.work, err
}

type updating struct {
	*Update
	ctx      context.Context
	recipe   [sha256.Size]byte
	old, new *view
	work     Work

	seen  map[graph.ID]bool // nodes whose places were edited
	queue []graph.ID
	edits map[graph.ID][]edit     // of tries, by scope
	dead  map[graph.ID]bool       // old scopes among those that were met
	live  map[graph.ID]*scopeInfo // new scopes to examine
	names map[graph.ID]string     // of scopes that are no nodes

	was, is []hashOf // facts and digests that were looked at, before and after
}

// scopeInfo is a scope whose digest may change.
type scopeInfo struct {
	key     Key
	parents []parent
	waits   int // scopes within that come first
}

// place finds the entries that change, by trie.
func (r *updating) place() error {
	for id, err := range r.Touched {
		if err != nil {
			return err
		}
		if err := r.one(id); err != nil {
			return err
		}
		for len(r.queue) > 0 {
			next := r.queue[len(r.queue)-1]
			r.queue = r.queue[:len(r.queue)-1]
			if err := r.one(next); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *updating) one(id graph.ID) error {
	if r.seen[id] {
		return r.ctx.Err()
	}
	r.seen[id] = true
	was, err := r.unplace(id)
	if err != nil {
		return err
	}
	is, err := r.enter(id)
	if err != nil {
		return err
	}
	if slices.Equal(was, is) {
		return nil
	}
	// A merged scope changed: its nodes, and all inside them, have new places.
	for _, side := range []struct {
		v    *view
		list []graph.ID
	}{{r.old, was}, {r.new, is}} {
		for _, head := range side.list {
			r.queue = append(r.queue, head)
			if len(was) < 2 && len(is) < 2 {
				continue // members came or left with their own edges
			}
			for member, err := range side.v.r.Down(r.ctx, head) {
				if err != nil {
					return err
				}
				if !r.seen[member] {
					r.queue = append(r.queue, member)
				}
			}
		}
	}
	return nil
}

// place returns a node's fact, nil for none; the nodes of its scope, nil for none; and the places of its fact: its own
// scope, or the scopes that it is in; none if it is hidden.
func (v *view) place(ctx context.Context, id graph.ID) (f *Fact, circle []graph.ID, homes []parent, err error) {
	if f, err = v.r.Fact(ctx, id); err != nil {
		return nil, nil, nil, err
	}
	scope, err := v.isScope(id)
	switch {
	case err != nil:
	case scope:
		if circle, err = v.circle(id); err == nil {
			homes = []parent{{id: circle[0]}}
		}
	case f != nil && !f.Hidden:
		homes, err = v.parents([]graph.ID{id})
	}
	return f, circle, homes, err
}

// unplace removes a node from its places, and returns its former scope, nil for none.
func (r *updating) unplace(id graph.ID) ([]graph.ID, error) {
	f, circle, homes, err := r.old.place(r.ctx, id)
	if err != nil {
		return nil, err
	}
	if circle != nil && !r.dead[circle[0]] {
		r.dead[circle[0]] = true
		if err := r.unlink(circle); err != nil {
			return nil, err
		}
	}
	if f == nil || f.Hidden {
		return circle, nil
	}
	sem, err := SemOf(f.Text)
	if err != nil {
		return nil, err
	}
	r.was = append(r.was, hashOf{sem, factSource(r.recipe, f.Text), id, "", ofFact})
	for _, p := range homes {
		r.edit(p, edit{key: makeKey(sem, id)})
	}
	return circle, nil
}

func (r *updating) unlink(circle []graph.ID) error {
	key, parents, err := r.old.within(parent{id: circle[0]})
	for _, p := range parents {
		r.edit(p, edit{key: key})
	}
	return err
}

func (r *updating) edit(p parent, e edit) {
	if p.name != "" {
		r.names[p.id] = p.name
	}
	r.edits[p.id] = append(r.edits[p.id], e)
}

// enter adds a node to its places, and returns its scope, nil for none.
func (r *updating) enter(id graph.ID) ([]graph.ID, error) {
	f, circle, homes, err := r.new.place(r.ctx, id)
	if err != nil {
		return nil, err
	}
	if circle != nil {
		if err := r.look(parent{id: circle[0]}); err != nil {
			return nil, err
		}
	}
	if f == nil || f.Hidden {
		return circle, nil
	}
	sem, err := SemOf(f.Text)
	if err != nil {
		return nil, err
	}
	e := Entry{Key: makeKey(sem, id), Source: factSource(r.recipe, f.Text)}
	e.Size, e.Until = tokensOf(f.Text), f.Until
	r.is = append(r.is, hashOf{sem, e.Source, id, "", ofFact})
	for i, p := range homes {
		at := e
		if i == 0 {
			at.Facts, at.Tokens = 1, e.Size
		}
		r.edit(p, edit{at.Key, &at})
	}
	return circle, nil
}

// look has a scope be looked at, and those that it is in.
func (r *updating) look(scope parent) error {
	for todo := []parent{scope}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.id.IsZero() || r.live[s.id] != nil {
			continue
		}
		if s.name != "" {
			r.names[s.id] = s.name
		}
		info := new(scopeInfo)
		var err error
		if info.key, info.parents, err = r.new.within(s); err != nil {
			return err
		}
		r.live[s.id] = info
		todo = append(todo, info.parents...)
	}
	return nil
}

// digest makes the digests, those within others first.
func (r *updating) digest() (Tree, error) {
	for id := range maps.Clone(r.edits) {
		if id.IsZero() || r.names[id] == "" && r.gone(id) {
			continue
		}
		if err := r.look(parent{id: id, name: r.names[id]}); err != nil {
			return Tree{}, err
		}
	}
	for _, info := range r.live {
		for _, p := range info.parents {
			if up := r.live[p.id]; up != nil {
				up.waits++
			}
		}
	}
	var ready []graph.ID
	for id, info := range r.live {
		if info.waits == 0 {
			ready = append(ready, id)
		}
	}
	slices.SortFunc(ready, graph.ID.Compare)
	links := map[graph.ID]ipld.CID{}
	for len(ready) > 0 {
		id := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if err := r.scope(id, links); err != nil {
			return Tree{}, err
		}
		for _, p := range r.live[id].parents {
			if up := r.live[p.id]; up != nil {
				if up.waits--; up.waits == 0 {
					ready = append(ready, p.id)
				}
			}
		}
	}
	for id := range r.dead {
		if r.live[id] == nil {
			links[id] = ipld.CID{}
			if err := r.drop(id); err != nil {
				return Tree{}, err
			}
		}
	}
	root, err := r.trie(graph.ID{}, r.Base.Root)
	if err != nil {
		return Tree{}, err
	}
	var edits []prolly.Edit
	for _, id := range slices.SortedFunc(maps.Keys(links), graph.ID.Compare) {
		e := prolly.Edit{Key: id[:]}
		if c := links[id]; c.Defined() {
			e.Value = ipld.AppendLink(nil, c)
		}
		edits = append(edits, e)
	}
	scopes, err := r.Base.Scopes.Edit(r.ctx, edits)
	if err != nil {
		return Tree{}, err
	}
	hashes, err := rehash(r.ctx, r.Base.Hashes, r.was, r.is)
	return Tree{root.link, scopes, hashes}, err
}

// drop notes the digests of a scope that is gone.
func (r *updating) drop(id graph.ID) error {
	top, err := r.Base.Scope(r.ctx, id)
	for todo := []ipld.CID{top}; len(todo) > 0 && err == nil && top.Defined(); {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		var d *Digest
		if d, err = Read(r.ctx, r.Blocks, c); err != nil {
			break
		}
		r.work.Read++
		r.was = append(r.was, hashOfDigest(d))
		for _, k := range d.Kids {
			todo = append(todo, k.Link)
		}
	}
	return err
}

func (r *updating) gone(id graph.ID) bool { return r.dead[id] && r.live[id] == nil }

// made is a digest and its link, nil and undefined for none.
type made struct {
	digest *Digest
	link   ipld.CID
}

// scope computes the digest of a scope and adds it to its parents.
func (r *updating) scope(id graph.ID, links map[graph.ID]ipld.CID) error {
	old, err := r.Base.Scope(r.ctx, id)
	if err != nil {
		return err
	}
	m, err := r.trie(id, old)
	if err != nil {
		return err
	}
	links[id] = m.link
	info := r.live[id]
	for i, p := range info.parents {
		e := edit{key: info.key}
		if m.digest != nil {
			e.entry = &Entry{Key: info.key, Source: m.digest.Source, Link: m.link}
			e.entry.Size, e.entry.Until, e.entry.Scopes = ClusterTokens, m.digest.Until, 1
			if i == 0 {
				e.entry.Facts, e.entry.Tokens = m.digest.Facts, m.digest.Tokens
			}
		}
		r.edit(p, e)
	}
	delete(r.edits, id)
	return nil
}

func (r *updating) trie(id graph.ID, old ipld.CID) (made, error) {
	t := &trie{ctx: r.ctx, from: r.Blocks}
	var n *node
	var err error
	if old.Defined() {
		if n, err = t.load(old, ""); err != nil {
			return made{}, err
		}
	}
	n, err = t.update("", n, sortEdits(r.edits[id]))
	r.work.Read += len(t.read)
	r.was = append(r.was, t.read...)
	if err != nil || n == nil {
		return made{}, err
	}
	s := &sealer{
		ctx: r.ctx, blocks: r.Blocks, facts: r.New, recipe: r.recipe, refuse: r.Refuse, work: &r.work,
		scope: id, name: r.names[id],
	}
	d, c, err := s.seal(n)
	r.is = append(r.is, s.sealed...)
	return made{d, c}, err
}

// Scope returns the link of a scope's digest, undefined for none.
func (t Tree) Scope(ctx context.Context, id graph.ID) (ipld.CID, error) {
	item, ok, err := t.Scopes.Get(ctx, id[:])
	if err != nil || !ok {
		return ipld.CID{}, err
	}
	v, err := ipld.DecodeValue(item)
	return v.Link(), err
}

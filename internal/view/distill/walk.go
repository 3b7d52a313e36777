package distill

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Walk calls fn with the link of each digest of a tree, the topmost first, and goes below it where fn returns true.
func Walk(ctx context.Context, from store.Getter, root ipld.CID, fn func(ipld.CID) (descend bool, err error)) error {
	for todo := []ipld.CID{root}; len(todo) > 0; {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !c.Defined() {
			continue
		}
		descend, err := fn(c)
		if err != nil {
			return err
		}
		if !descend {
			continue
		}
		d, err := Read(ctx, from, c)
		if err != nil {
			return err
		}
		for _, k := range d.Kids {
			todo = append(todo, k.Link)
		}
		for _, e := range d.Entries {
			todo = append(todo, e.Link)
		}
	}
	return nil
}

// Top returns the digest of a scope, or of the root for the zero id, and its link; nil if there is none.
func (t Tree) Top(ctx context.Context, from store.Getter, scope graph.ID) (*Digest, ipld.CID, error) {
	c := t.Root
	if !scope.IsZero() {
		var err error
		if c, err = t.Scope(ctx, scope); err != nil {
			return nil, c, err
		}
	}
	if !c.Defined() {
		return nil, c, nil
	}
	d, err := Read(ctx, from, c)
	return d, c, err
}

// Find returns the digest of a scope's cluster, of the scope itself for no label, nil if there is none.
func (t Tree) Find(ctx context.Context, from store.Getter, scope graph.ID, label string) (*Digest, ipld.CID, error) {
	d, c, err := t.Top(ctx, from, scope)
	for err == nil && d != nil && d.Label != label {
		i := slices.IndexFunc(d.Kids, func(k Kid) bool { return strings.HasPrefix(label, k.Label) })
		if i < 0 {
			return nil, ipld.CID{}, nil
		}
		c = d.Kids[i].Link
		d, err = Read(ctx, from, c)
	}
	return d, c, err
}

// Above returns the digests that contain a fact, the nearest first and the root's last; none if the tree does not have
// the fact.
func (t Tree) Above(ctx context.Context, from store.Getter, r Reader, id graph.ID) ([]*Digest, error) {
	v := newView(ctx, r)
	f, _, homes, err := v.place(ctx, id)
	if err != nil || f == nil || f.Hidden {
		return nil, err
	}
	sem, err := SemOf(f.Text)
	if err != nil {
		return nil, err
	}
	var out []*Digest
	for key := makeKey(sem, id); ; {
		list, err := t.way(ctx, from, homes[0].id, key)
		if err != nil {
			return nil, err
		}
		slices.Reverse(list)
		if out = append(out, list...); homes[0].id.IsZero() {
			return out, nil
		}
		if key, homes, err = v.within(homes[0]); err != nil {
			return nil, err
		}
	}
}

func (t Tree) way(ctx context.Context, from store.Getter, scope graph.ID, key Key) (out []*Digest, err error) {
	d, _, err := t.Top(ctx, from, scope)
	for err == nil && d != nil {
		out = append(out, d)
		i := slices.IndexFunc(d.Kids, func(k Kid) bool { return key.has(k.Label) })
		if i < 0 {
			return out, nil
		}
		d, err = Read(ctx, from, d.Kids[i].Link)
	}
	return out, err
}

// Expired returns facts whose validity ended at a time or before, at most so many. It descends only into digests that
// have some. They stay in their digests: no clock changes a digest.
func Expired(ctx context.Context, from store.Getter, d *Digest, now graph.Time, most int) (out []graph.ID, err error) {
	past := func(t graph.OptTime) bool { return t.Given && t.Time <= now }
	seen := map[graph.ID]bool{}
	for todo := []*Digest{d}; len(todo) > 0; {
		d := todo[0]
		todo = todo[1:]
		var links []ipld.CID
		for _, k := range d.Kids {
			if past(k.Until) {
				links = append(links, k.Link)
			}
		}
		for _, e := range d.Entries {
			switch {
			case !past(e.Until):
			case e.Link.Defined():
				links = append(links, e.Link)
			case !seen[e.Key.ID()]:
				seen[e.Key.ID()] = true
				if out = append(out, e.Key.ID()); len(out) == most {
					return out, nil
				}
			}
		}
		for _, c := range links {
			below, err := Read(ctx, from, c)
			if err != nil {
				return nil, err
			}
			todo = append(todo, below)
		}
	}
	return out, nil
}

// FactChange is the change of a fact.
type FactChange struct {
	ID       graph.ID
	Old, New bool     // whether it was there, and is
	Scope    graph.ID // its home now, or else its last one
}

type homed struct {
	source Source
	scope  graph.ID
}

// Comparison is how two trees differ.
type Comparison struct {
	Facts []FactChange // by id
	Read  int          // digests
	More  bool         // whether these are not all
}

// Compare finds the differences of two trees, by descending into the digests that differ. It ends after so many
// digests.
func Compare(ctx context.Context, from store.Getter, a, b Tree, most int) (*Comparison, error) {
	c := &comparing{ctx: ctx, from: from, most: most, scopes: map[graph.ID][2]ipld.CID{{}: {a.Root, b.Root}},
		was: map[graph.ID]homed{}, is: map[graph.ID]homed{}}
	done := map[graph.ID][2]ipld.CID{}
	for len(c.scopes) > 0 && !c.out.More {
		ids := slices.SortedFunc(maps.Keys(c.scopes), graph.ID.Compare)
		scopes := c.scopes
		c.scopes = map[graph.ID][2]ipld.CID{}
		for _, id := range ids {
			pair := scopes[id]
			if !id.IsZero() { // it may have left one scope and be in another
				var err error
				if pair[0], err = a.Scope(ctx, id); err != nil {
					return nil, err
				}
				if pair[1], err = b.Scope(ctx, id); err != nil {
					return nil, err
				}
			}
			if pair[0] == pair[1] || done[id] == pair {
				continue
			}
			done[id] = pair
			if err := c.pair(pair[0], pair[1]); err != nil {
				return nil, err
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(c.was), graph.ID.Compare) {
		is, ok := c.is[id]
		if !ok {
			is.scope = c.was[id].scope
		}
		if !ok || is.source != c.was[id].source {
			c.out.Facts = append(c.out.Facts, FactChange{id, true, ok, is.scope})
		}
	}
	for id, is := range c.is {
		if _, ok := c.was[id]; !ok {
			c.out.Facts = append(c.out.Facts, FactChange{id, false, true, is.scope})
		}
	}
	slices.SortFunc(c.out.Facts, func(x, y FactChange) int { return x.ID.Compare(y.ID) })
	return &c.out, nil
}

type comparing struct {
	ctx     context.Context
	from    store.Getter
	most    int
	scopes  map[graph.ID][2]ipld.CID // to be compared
	was, is map[graph.ID]homed       // facts of leaves that are in one tree only
	out     Comparison
}

func (c *comparing) read(link ipld.CID) (*Digest, error) {
	if !link.Defined() {
		return nil, nil
	}
	if c.out.Read++; c.out.Read > c.most {
		c.out.More = true
		return nil, nil
	}
	return Read(c.ctx, c.from, link)
}

// pair compares two digests of one name; one of them may not exist.
func (c *comparing) pair(old, now ipld.CID) error {
	if old == now || c.out.More {
		return nil
	}
	a, err := c.read(old)
	if err != nil {
		return err
	}
	b, err := c.read(now)
	if err != nil {
		return err
	}
	return c.kids(c.entries(a, c.was), c.entries(b, c.is))
}

// entries records the entries of a leaf and returns the children of other digests.
func (c *comparing) entries(d *Digest, facts map[graph.ID]homed) []Kid {
	if d == nil {
		return nil
	}
	for _, e := range d.Entries {
		if e.Link.Defined() {
			c.scopes[e.Key.ID()] = [2]ipld.CID{}
		} else if e.Facts == 1 { // it is at home, so that it is met once
			facts[e.Key.ID()] = homed{e.Source, d.Scope}
		}
	}
	return slices.Clone(d.Kids)
}

// kids compares children by their labels. If one label is a prefix of the other, the children of the first are compared
// instead.
func (c *comparing) kids(a, b []Kid) error {
	for (len(a) > 0 || len(b) > 0) && !c.out.More {
		switch {
		case len(a) > 0 && len(b) > 0 && a[0].Label == b[0].Label:
			if err := c.pair(a[0].Link, b[0].Link); err != nil {
				return err
			}
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && a[0].Label < b[0].Label:
			rest, err := c.only(a, c.was)
			if err != nil {
				return err
			}
			a = rest
		default:
			rest, err := c.only(b, c.is)
			if err != nil {
				return err
			}
			b = rest
		}
	}
	return nil
}

// only records the facts of the first child, which the other tree lacks, and replaces it by its own children.
func (c *comparing) only(list []Kid, facts map[graph.ID]homed) ([]Kid, error) {
	d, err := c.read(list[0].Link)
	if err != nil || d == nil {
		return nil, err
	}
	return append(c.entries(d, facts), list[1:]...), nil
}

package remember

import (
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/extract"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
)

// entities links a draft to what it mentions: what the caller names, and what its text names, first that which the
// memory knows. What it is about, it does not mention besides: that would be a second node of one name.
func (l *linker) entities(ctx context.Context, d *Draft, subjects []graph.ID, out *Linked) error {
	seen := map[string]bool{}
	if err := l.subjectKeys(ctx, d, subjects, seen); err != nil {
		return err
	}
	to := map[graph.ID]bool{}
	first := len(out.Links)
	var names []string // of what the links from first on lead to
	add := func(name string, at place, why string) {
		key := memory.EntityKey(name)
		if seen[key] = true; to[at.ref.Target()] {
			return
		}
		to[at.ref.Target()] = true
		link := named(memory.EdgeMentions, d, key, memory.TypeEntity, name, why)
		if at.ref.Key != key { // it has another key, and is there
			link.Dst, link.Makes = at.ref, nil
		}
		out.Links = append(out.Links, link)
		names = append(names, name)
	}
	for _, name := range d.Entities {
		if key := memory.EntityKey(name); key == "" || seen[key] {
			continue
		}
		at, err := l.locate(ctx, name, nil)
		if err != nil {
			return err
		}
		add(name, at, "named by the caller")
	}
	if err := l.found(ctx, d, seen, add); err != nil {
		return err
	}
	for i, name := range names {
		if err := l.alias(ctx, name, out.Links[first+i].Dst, out); err != nil {
			return err
		}
	}
	return nil
}

func (l *linker) found(
	ctx context.Context, d *Draft, seen map[string]bool, add func(name string, at place, why string),
) error {
	known, err := l.titlesIn(ctx, d.Text)
	if err != nil {
		return err
	}
	if known == nil {
		known = titles{}
	}
	type located struct {
		extract.Entity
		place
	}
	var fresh []located
	found := 0
	secrets := memory.Credentials(guard.FindProse(d.Text))
	for _, e := range extract.Entities(d.Text, known.names()) {
		key := memory.EntityKey(e.Name)
		if e.Kind == extract.Date || e.Kind == extract.Version || key == "" || seen[key] ||
			secrets.Has(e) {
			continue
		}
		at, err := l.locate(ctx, e.Name, known)
		switch {
		case err != nil:
			return err
		case !at.there:
			fresh = append(fresh, located{e, at})
		case found < maxMentions:
			found++
			add(e.Name, at, "the text has "+e.Name+", which the memory knows")
		}
	}
	for _, e := range fresh {
		if found == maxMentions {
			break
		}
		if e.hidden {
			continue // what was forgotten does not come back by itself
		}
		mark, err := l.s.Mark(ctx, graph.OnNode, graph.NodeID(memory.EntityKey(e.Name)))
		if err != nil {
			return err
		}
		if mark == nil {
			found++
			add(e.Name, e.place, "the text has "+e.Name+": "+string(e.Kind))
		}
	}
	return nil
}

// subjectKeys adds the keys under which entities are the subjects of a draft: those of the names that
// are their keys and summaries, and their keys themselves.
func (l *linker) subjectKeys(ctx context.Context, d *Draft, subjects []graph.ID, keys map[string]bool) error {
	add := func(key, summary string) {
		keys[key], keys[memory.EntityKey(key)], keys[memory.EntityKey(summary)] = true, true, true
	}
	if d.About.Key != "" {
		add(d.About.Key, "")
	}
	for _, id := range subjects {
		n, _, err := l.s.Node(ctx, id)
		switch {
		case memory.IsMissing(err): // it is made by this very commit
		case err != nil:
			return err
		default:
			add(n.Key, n.Summary)
		}
	}
	return nil
}

func named(edge string, d *Draft, key, typ, name, why string) Link {
	summary := strings.Join(strings.Fields(name), " ")
	return Link{
		Type: edge, Src: graph.Ref{ID: d.ID}, Dst: graph.Ref{Key: key}, Why: why,
		Makes: &graph.NodeChange{Key: key, Type: typ, Summary: &summary},
	}
}

func (l *linker) keywords(d *Draft, out *Linked) {
	seen := map[string]bool{}
	for _, tag := range d.Tags {
		if key := memory.TagKey(tag); key != "" && !seen[key] {
			seen[key] = true
			out.Links = append(out.Links, named(memory.EdgeTagged, d, key, memory.TypeTag, tag, "tag "+tag))
		}
	}
}

// titles are the nodes of the type Entity that a text may speak of, by the key that their titles would have.
type titles map[string][]*graph.Node

// names returns the titles, in bytewise order.
func (t titles) names() []string {
	var out []string
	for _, list := range t {
		for _, n := range list {
			out = append(out, n.Summary)
		}
	}
	slices.Sort(out)
	return out
}

// titlesIn returns the entities that the memory knows, no mark hides and whose titles stand in a text.
func (l *linker) titlesIn(ctx context.Context, text string) (titles, error) {
	if !l.s.CID().Defined() {
		return nil, nil
	}
	ids, err := rank.TitlesIn(ctx, l.s, text)
	if err != nil {
		return nil, err
	}
	out := titles{}
	for _, id := range ids {
		n, err := l.seen(ctx, id)
		if err != nil {
			return nil, err
		}
		if n != nil && n.Type == memory.TypeEntity {
			key := memory.EntityKey(n.Summary)
			out[key] = append(out[key], n)
		}
	}
	return out, nil
}

// place is where the entity of a name is.
type place struct {
	ref    graph.Ref
	there  bool // in the snapshot, and no mark hides it
	hidden bool // a mark hides what has the key of the name
}

// locate finds the node of the entity of a name: the one with the key of the name; else a visible one of the type
// Entity whose key is the folded name, or the only one whose title is the name; else what the commit that is being made
// makes of it. Two of one title are two people, of whom none is meant for sure. If there is none, it is the one to be
// made. list has the entities that are called so, as titlesIn finds them; if it is nil, they are looked for.
func (l *linker) locate(ctx context.Context, name string, list titles) (place, error) {
	key := memory.EntityKey(name)
	at := place{ref: graph.Ref{Key: key}}
	if key == "" {
		return at, nil
	}
	id := at.ref.Target()
	if n, err := l.node(ctx, id); n != nil || err != nil {
		if err == nil {
			n, err = l.seen(ctx, id)
		}
		at.there, at.hidden = n != nil, n == nil
		return at, err
	}
	n, err := l.seen(ctx, graph.NodeID(strings.TrimPrefix(key, memory.EntityPrefix)))
	if err != nil {
		return at, err
	}
	if n == nil || n.Type != memory.TypeEntity {
		if list == nil {
			if list, err = l.titlesIn(ctx, name); err != nil {
				return at, err
			}
		}
		if n = nil; len(list[key]) == 1 {
			n = list[key][0]
		}
	}
	switch made, ok := l.made[key]; {
	case n != nil:
		at.ref, at.there = graph.Ref{ID: n.ID}, true
	case ok:
		at.ref = graph.Ref{Key: made}
	}
	return at, nil
}

// makes tells the linker of a node that the commit makes, so that what mentions it later finds it.
func (l *linker) makes(c *graph.NodeChange) {
	if c.Type != memory.TypeEntity || c.Summary == nil {
		return
	}
	if l.made == nil {
		l.made = make(map[string]string)
	}
	for _, name := range []string{c.Key, *c.Summary} {
		if key := memory.EntityKey(name); key != "" && l.made[key] == "" {
			l.made[key] = c.Key
		}
	}
}

// maxFullNames is how many entities with a first name are looked at.
const maxFullNames = 64

// alias links the node of a first name to the node of the full name that begins with it, if the snapshot has exactly
// one such name. A node that has such an edge, hidden or not, gets no other: the decision is a record that can be
// listed and reverted.
func (l *linker) alias(ctx context.Context, name string, node graph.Ref, out *Linked) error {
	first := extract.FirstName(name)
	if first == "" || !l.s.CID().Defined() {
		return nil
	}
	for _, err := range l.s.Adjacency().Bucket(ctx, node.Target(), adjacency.Out, memory.EdgeAlias, nil) {
		return err
	}
	full, err := l.fullName(ctx, first, node.Target())
	if full != nil && err == nil {
		out.Links = append(out.Links, Link{
			Type: memory.EdgeAlias, Src: node, Dst: graph.Ref{ID: full.ID},
			Why: full.Summary + " is the only full name that begins with " + name,
		})
	}
	return err
}

// fullName returns the only visible entity whose name begins with a first name, nil if there is none
// or the name is in too many nodes to be looked for.
func (l *linker) fullName(ctx context.Context, first string, not graph.ID) (*graph.Node, error) {
	list, ok := l.given[first]
	if !ok {
		var err error
		if list, err = l.givenTo(ctx, first); err != nil {
			return nil, err
		}
		if l.given == nil || len(l.given) == maxNodes {
			l.given = map[string][]*graph.Node{}
		}
		l.given[first] = list
	}
	var full *graph.Node
	for _, n := range list {
		if n.ID == not {
			continue
		}
		if hidden, err := l.hides(ctx, n.ID); err != nil {
			return nil, err
		} else if hidden {
			continue
		}
		if full != nil {
			return nil, nil
		}
		full = n
	}
	return full, nil
}

// givenTo returns the entities whose names begin with a first name, hidden ones too, none if the name is in
// too many nodes to be looked for.
func (l *linker) givenTo(ctx context.Context, first string) (list []*graph.Node, err error) {
	term, ok := text.English.WordTerm(first)
	if !ok {
		return nil, nil
	}
	have, _, err := rank.TermCounts(ctx, l.s, []string{term})
	if err != nil || have[0] == 0 || have[0] > memory.MaxHave {
		return nil, err
	}
	entity := func(d source.Document) (bool, error) { return d.Type() == memory.TypeEntity, nil }
	hits, err := rank.Texts(ctx, l.s, first, entity, maxFullNames)
	if err != nil || len(hits) == maxFullNames {
		return nil, err
	}
	for _, h := range hits {
		n, err := l.node(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		if n != nil && extract.GivenName(n.Summary) == first {
			list = append(list, n)
		}
	}
	return list, nil
}

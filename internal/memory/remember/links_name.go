package remember

import (
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/rank"
)

// titles are the nodes of the type Entity that a text may speak of, by the key that their titles
// would have.
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

// locate finds the node of the entity of a name: the one with the key of the name; else a visible one
// of the type Entity whose key is the folded name, or the only one whose title is the name; else
// what the commit that is being made makes of it. Two of one title are two people, of whom none is
// meant for sure. If there is none, it is the one to be made. list has the entities that are
// called so, as titlesIn finds them; if it is nil, they are looked for.
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

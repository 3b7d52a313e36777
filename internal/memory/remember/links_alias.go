package remember

import (
	"context"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/extract"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
)

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

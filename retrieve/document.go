package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// maxJoined is how many entries of each of an item's buckets are looked at for what joins it to
// others, and how many a node that joins its neighbours has at most: clause 11.5. Beyond that it is
// no container that is read from end to end but a hub, which many things lead to.
const maxJoined = 256

// joiner finds out which items belong together.
type joiner struct {
	*packer
	at    map[graph.ID]int // items by id
	group []int            // of each item, the number of another of its group, or its own
	next  [][]int          // of each item, the items that edges lead to
}

// side is where an item hangs: edges of one type and direction at one node.
type side struct {
	typ string
	far graph.ID
	dir Direction
}

// arrangeDocument puts items that edges join side by side in reading order, and these groups in the
// order of their best: clause 11.5.
func (p *packer) arrangeDocument(ctx context.Context) error {
	items := p.answer.Items
	j := joiner{packer: p, at: make(map[graph.ID]int, len(items)), group: make([]int, len(items)),
		next: make([][]int, len(items))}
	for i, item := range items {
		j.at[item.ID], j.group[i] = i, i
	}
	if err := j.join(ctx); err != nil {
		return err
	}
	groups := make([][]int, len(items))
	for i := range items {
		g := j.root(i)
		groups[g] = append(groups[g], i)
		p.idle.joined = p.idle.joined || g != i
	}
	out := make([]Item, 0, len(items))
	for _, g := range groups {
		for _, i := range j.reading(g) {
			out = append(out, items[i])
		}
	}
	p.answer.Items = out
	return nil
}

// root returns the best ranked item of an item's group.
func (j *joiner) root(i int) int {
	for j.group[i] != i {
		i = j.group[i]
	}
	return i
}

func (j *joiner) unite(a, b int) {
	a, b = j.root(a), j.root(b)
	j.group[max(a, b)] = min(a, b)
}

// join unites the items that an edge joins, and those that hang at one node in the same way.
func (j *joiner) join(ctx context.Context) error {
	hanging := map[side][]int{}
	var sides []side // in the order in which they were found
	for i := range j.answer.Items {
		for _, dir := range []Direction{Out, In} {
			links, _, err := j.g.Bucket(ctx, BucketQuery{
				Node: j.answer.Items[i].ID, Direction: dir, Types: j.req.ExpandTypes,
				Limit: maxJoined,
			})
			if err != nil {
				return fmt.Errorf("read edges of %s: %w", j.answer.Items[i].ID, err)
			}
			for _, l := range links {
				if hidden, err := j.filter.hiddenLink(ctx, l); err != nil {
					return err
				} else if hidden {
					continue
				}
				if other, ok := j.at[l.Other]; ok && other != i {
					j.unite(i, other)
					if dir == Out {
						j.next[i] = append(j.next[i], other)
					}
				}
				s := side{l.Type, l.Other, dir}
				if hanging[s] == nil {
					sides = append(sides, s)
				}
				hanging[s] = append(hanging[s], i)
			}
		}
	}
	return j.joinSides(ctx, sides, hanging)
}

// joinSides unites the items of each side whose node is no hub.
func (j *joiner) joinSides(ctx context.Context, sides []side, hanging map[side][]int) error {
	for _, s := range sides {
		list := hanging[s]
		if list[0] == list[len(list)-1] { // one item alone, maybe by parallel edges
			continue
		}
		entries := 0
		for _, dir := range []Direction{Out, In} {
			_, n, err := j.g.Bucket(ctx, BucketQuery{Node: s.far, Direction: dir, Count: true})
			if err != nil {
				return fmt.Errorf("count edges of %s: %w", s.far, err)
			}
			entries += n
		}
		if entries > maxJoined {
			continue
		}
		for _, i := range list[1:] {
			j.unite(list[0], i)
		}
	}
	return nil
}

// reading returns the items of a group as they are read: by the time they were created; those of
// one time along their edges, and else by id.
func (j *joiner) reading(group []int) []int {
	items := j.answer.Items
	slices.SortFunc(group, func(a, b int) int {
		return cmp.Or(cmp.Compare(j.created[a], j.created[b]), items[a].ID.Compare(items[b].ID))
	})
	var out []int
	for len(group) > 0 {
		n := 1
		for n < len(group) && j.created[group[n]] == j.created[group[0]] {
			n++
		}
		out = append(out, j.along(group[:n])...)
		group = group[n:]
	}
	return out
}

// along orders items, which are in the order of their ids, so that one to which an edge leads from
// another comes after it. Where edges lead round, the smallest id breaks the ring.
func (j *joiner) along(same []int) []int {
	before := make(map[int]int, len(same)) // how many edges lead to an item from those that remain
	for _, i := range same {
		before[i] += 0
		for _, next := range j.next[i] {
			before[next]++
		}
	}
	out := make([]int, 0, len(same))
	for rest := slices.Clone(same); len(rest) > 0; {
		at := max(0, slices.IndexFunc(rest, func(i int) bool { return before[i] == 0 }))
		i := rest[at]
		rest = slices.Delete(rest, at, at+1)
		for _, next := range j.next[i] {
			before[next]--
		}
		out = append(out, i)
	}
	return out
}

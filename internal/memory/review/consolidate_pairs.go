package review

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
)

// Constants of duplicates and contradictions: docs/internals/memories.md, "Proposals".
const (
	maxLike  = 8      // memories that each is compared with
	sameAt   = 58_983 // above .90
	opposeAt = 32_768 // .50: nothing else differs but what opposes
	maxAbout = 64     // subjects that are compared
)

// pair is two memories that are alike, by their indexes in the list.
type pair struct {
	a, b int // a < b
	compare.Comparison
}

func (p pair) order(o pair) int { return cmp.Or(cmp.Compare(p.a, o.a), cmp.Compare(p.b, o.b)) }

// pairs compares each memory with those that the index finds most like it, once.
func (c *consolidator) pairs() error {
	if c.paired {
		return nil
	}
	c.paired = true
	if !c.s.CID().Defined() {
		return nil
	}
	c.rare = memory.NewRareWords(c.ctx, c.s)
	if err := c.each(c.pairsOf); err != nil {
		return err
	}
	for _, list := range []*[]pair{&c.same, &c.oppose} {
		slices.SortFunc(*list, pair.order)
		*list = slices.CompactFunc(*list, func(p, o pair) bool { return p.order(o) == 0 })
	}
	return nil
}

// each calls fn with each memory that no proposal hides, and reports progress.
func (c *consolidator) each(fn func(i int) error) error {
	for i := range c.all {
		if c.req.Progress != nil {
			c.req.Progress(i, len(c.all))
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if c.hides[c.all[i].id] {
			continue
		}
		if err := fn(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *consolidator) pairsOf(i int) error {
	x := &c.all[i]
	n, _, err := c.s.Node(c.ctx, x.id)
	if err != nil {
		return err
	}
	like, err := c.like(i, n.Summary)
	if err != nil {
		return err
	}
	var mine *compare.Text
	for _, id := range like {
		j := c.at[id]
		other, _, err := c.s.Node(c.ctx, id)
		if err != nil {
			return err
		}
		if mine == nil {
			mine = compare.Analyse(n.Summary)
		}
		got := mine.CompareFrom(compare.Analyse(other.Summary), opposeAt) // below, nothing follows
		same := len(got.Differs) == 0 && got.Similarity >= sameAt
		if !same && !opposes(got) {
			continue
		}
		if ok, err := c.sameSubjects(x.id, id); err != nil {
			return err
		} else if !ok {
			continue
		}
		p := pair{min(i, j), max(i, j), got}
		if j < i { // the differences are described from the first one's side
			p.Comparison = compare.Compare(other.Summary, n.Summary)
		}
		if same {
			c.same = append(c.same, p)
		} else {
			c.oppose = append(c.oppose, p)
		}
	}
	return nil
}

// like returns the memories whose texts are most like the ith one's: the best by its rarest words, as Remember looks
// for them, among those that it may be paired with.
func (c *consolidator) like(i int, summary string) ([]graph.ID, error) {
	query, err := c.rare.Query(summary)
	if err != nil || query == "" {
		return nil, err
	}
	x := &c.all[i]
	hits, err := rank.Texts(c.ctx, c.s, query, func(d source.Document) (bool, error) {
		j, ok := c.at[d.ID()]
		if !ok || j == i || c.hides[c.all[j].id] {
			return false, nil
		}
		o := &c.all[j]
		return x.typ == o.typ && x.from == o.from && x.to == o.to, nil // they agree in everything but their text
	}, maxLike)
	if err != nil {
		return nil, err
	}
	var ids []graph.ID
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids, nil
}

// opposes reports whether two texts differ such that at most one holds: only in words that reverse the meaning, or only
// in one number with its unit.
func opposes(c compare.Comparison) bool {
	if c.Similarity < opposeAt || len(c.Differs) == 0 {
		return false
	}
	if c.Opposes() {
		return true
	}
	numbers := 0
	for _, d := range c.Differs {
		switch {
		case d.Kind == compare.Number && d.A != "" && d.B != "":
			numbers++
		case d.Kind != compare.Unit:
			return false
		}
	}
	return numbers == 1
}

// sameSubjects reports whether two memories are about the same: the same words about another
// subject say something else.
func (c *consolidator) sameSubjects(a, b graph.ID) (bool, error) {
	var of [2][]graph.ID
	for i, id := range []graph.ID{a, b} {
		bucket := c.s.Adjacency().Bucket(c.ctx, id, adjacency.Out, memory.EdgeAbout, nil)
		for e, err := range bucket {
			if err != nil {
				return false, err
			}
			if len(of[i]) == maxAbout {
				break
			}
			of[i] = append(of[i], e.Other)
		}
		of[i] = slices.Compact(of[i])
	}
	return slices.Equal(of[0], of[1]), nil
}

// duplicates proposes to keep one of several memories that say the same: the most important, of these the oldest. Each
// other one says the same as that one.
func (c *consolidator) duplicates() error {
	if err := c.pairs(); err != nil {
		return err
	}
	alike := make(map[int][]int)
	for _, p := range c.same {
		alike[p.a] = append(alike[p.a], p.b)
		alike[p.b] = append(alike[p.b], p.a)
	}
	first := func(i, j int) int {
		a, b := &c.all[i], &c.all[j]
		return cmp.Or(cmp.Compare(b.stated, a.stated), cmp.Compare(a.created, b.created),
			a.id.Compare(b.id))
	}
	grouped := make(map[int]bool)
	var groups [][]int
	for _, i := range slices.SortedFunc(maps.Keys(alike), first) {
		if grouped[i] {
			continue
		}
		group := []int{i}
		for _, j := range alike[i] {
			if !grouped[j] {
				group = append(group, j)
			}
		}
		if len(group) == 1 {
			continue
		}
		slices.SortFunc(group[1:], first)
		for _, j := range group {
			grouped[j] = true
		}
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	for _, group := range groups {
		var list []subject
		var ids []graph.ID
		for _, i := range group {
			list, ids = append(list, c.all[i]), append(ids, c.all[i].id)
		}
		_, err := c.add(Proposal{Kind: ProposeDuplicate, Why: "they say the same"}, list, ids[1:]...)
		if err != nil {
			return err
		}
	}
	return nil
}

// contradictions proposes to mark memories by each other if at most one of them holds.
func (c *consolidator) contradictions() error {
	if err := c.pairs(); err != nil {
		return err
	}
	against := make(map[int]bool)
	for i := range c.all {
		if c.all[i].marked == graph.Contradicted {
			against[i] = true
		}
	}
	for _, p := range c.oppose {
		a, b := c.all[p.a], c.all[p.b]
		known := a.marked == graph.Contradicted && a.by == b.id ||
			b.marked == graph.Contradicted && b.by == a.id
		if known || c.hides[a.id] || c.hides[b.id] || against[p.a] && against[p.b] {
			continue
		}
		ok, err := c.add(Proposal{Kind: ProposeContradiction, Similarity: p.Similarity,
			Differs: p.Differs, Why: "at most one of them is so"}, []subject{a, b})
		if err != nil {
			return err
		}
		if ok {
			against[p.a], against[p.b] = true, true
		}
	}
	return nil
}

package review

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/ipld"
)

// tagUse is how often a tag is used.
type tagUse struct {
	nodes []subject // in id order
}

// TagsOf returns the tags of a node, nil if it has none; what is no text among them is left out.
func TagsOf(n *graph.Node) []string {
	v, ok := ipld.FindEntry(n.Props, memory.PropTags)
	if !ok || v.Kind() != ipld.List {
		return nil
	}
	var tags []string
	for _, item := range v.List() {
		if item.Kind() == ipld.String {
			tags = append(tags, item.Text())
		}
	}
	return tags
}

func (c *consolidator) countTags(n *graph.Node) {
	for _, tag := range TagsOf(n) {
		use := c.tags[tag]
		if use == nil {
			use = new(tagUse)
			c.tags[tag] = use
		}
		if k := len(use.nodes); k == 0 || use.nodes[k-1].id != n.ID {
			use.nodes = append(use.nodes, subject{id: n.ID})
		}
	}
}

// tagStem returns what spellings of one tag have in common: letters and digits in their folded
// form, without the s of a plural. Signs that stand for themselves, as in c++ and c#, count.
func tagStem(tag string) string {
	var b strings.Builder
	text.EachFolded(tag, func(_, _ int, kind text.CharClass, fold string) bool {
		if kind != text.KindOther || !strings.Contains(" -_./\u00a0", fold) {
			b.WriteString(fold)
		}
		return true
	})
	stem := b.String()
	if len(stem) > 3 && strings.HasSuffix(stem, "s") && !strings.HasSuffix(stem, "ss") {
		stem = stem[:len(stem)-1]
	}
	return stem
}

// fragmented proposes one spelling for tags that differ in their spelling alone: the one that is
// used most, of these the shortest, then the first in bytewise order.
func (c *consolidator) fragmented() error {
	groups := make(map[string][]string)
	for _, tag := range slices.Sorted(maps.Keys(c.tags)) {
		stem := tagStem(tag)
		groups[stem] = append(groups[stem], tag)
	}
	for _, stem := range slices.Sorted(maps.Keys(groups)) {
		group := groups[stem]
		if len(group) < 2 || stem == "" {
			continue
		}
		slices.SortStableFunc(group, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(c.tags[b].nodes), len(c.tags[a].nodes)),
				cmp.Compare(len(a), len(b)))
		})
		p := Proposal{Kind: ProposeTag, Tag: group[0], Spellings: slices.Clone(group[1:]),
			Why: "one tag in several spellings"}
		slices.Sort(p.Spellings)
		seen := make(map[graph.ID]bool)
		var list []subject
		for _, tag := range p.Spellings {
			for _, x := range c.tags[tag].nodes {
				if !seen[x.id] {
					seen[x.id] = true
					list = append(list, x)
				}
			}
		}
		slices.SortFunc(list, func(a, b subject) int { return a.id.Compare(b.id) })
		if _, err := c.add(p, list); err != nil {
			return err
		}
	}
	return nil
}

package complete

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// FullShare is a share of one, in units of 2^-16.
	FullShare = fixed.One
	// leastShare is what the scores of a repository count at least: a vector may find what no word of the
	// question does.
	leastShare = fixed.One / 16
)

// Part is what one of several repositories answers.
type Part struct {
	Name  string
	Share int64 // what its scores count, in units of 2^-16: see ShareOf
	Items []retrieve.Item
}

// ShareOf returns what the scores of a repository count whose best item covers so much of the question.
// Scores are shares of the best one's: without it the best of a repository that knows nothing of the
// matter would be level with the best of one that does.
func ShareOf(coverage int64) int64 { return min(max(coverage, leastShare), fixed.One) }

// Joint is one list of several answers.
type Joint struct {
	Items  []JointItem
	Used   int // tokens
	Left   int // items that the budget left out
	Counts []int
}

// JointItem is an item by its part and its place among the items of that, with the rank, score, tokens
// and text that it has in the list.
type JointItem struct {
	Part, At int
	retrieve.Item
}

// Together makes one list of answers, each by its own ranks, under a limit of items and a budget of
// tokens, 0 for none: next is the best of those that are next, of level ones that of the earlier part. A
// function of its arguments alone.
func Together(limit, budget int, parts ...Part) *Joint {
	out := &Joint{Counts: make([]int, len(parts))}
	lists := make([][]JointItem, len(parts))
	for i := range parts {
		lists[i] = parts[i].items(i)
	}
	for limit == 0 || len(out.Items) < limit {
		from := out.next(lists)
		if from < 0 {
			break
		}
		it := lists[from][0]
		lists[from] = lists[from][1:]
		if budget > 0 && it.Tokens > budget-out.Used {
			out.Left++
			continue
		}
		out.Used += it.Tokens
		out.Counts[from]++
		it.Rank = len(out.Items) + 1
		out.Items = append(out.Items, it)
	}
	return out
}

// next returns the list whose first item comes next, -1 for none: what was replaced follows what replaced it.
func (o *Joint) next(lists [][]JointItem) int {
	if n := len(o.Items); n > 0 {
		if last := o.Items[n-1].Part; len(lists[last]) > 0 && lists[last][0].Replaced != nil {
			return last
		}
	}
	from := -1
	for i, list := range lists {
		if len(list) > 0 && (from < 0 || list[0].Score > lists[from][0].Score) {
			from = i
		}
	}
	return from
}

// items returns the items of a part by rank, each with the name of the repository in its text.
func (p *Part) items(part int) (list []JointItem) {
	first := "repository: " + p.Name + "\n"
	for at, it := range p.Items {
		it.Score = it.Score * p.Share / fixed.One
		it.Rendered = first + it.Rendered
		it.Tokens += text.EstimateTokens(first)
		list = append(list, JointItem{part, at, it})
	}
	slices.SortFunc(list, func(a, b JointItem) int { return cmp.Compare(a.Rank, b.Rank) })
	return list
}

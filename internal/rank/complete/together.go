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
	// leastShare is the least weight of a repository's scores: a vector may find a memory that has no word of the
	// question.
	leastShare = fixed.One / 16
)

// Part is the answer of one of several repositories.
type Part struct {
	Name  string
	Share int64 // weight of its scores, in units of 2^-16: see ShareOf
	Items []retrieve.Item
}

// ShareOf returns the weight of a repository's scores, from the share of the question that its best item covers. Scores
// are relative to the best one's: without the weight, the best item of a repository without an answer would be equal to
// the best of one that has it.
func ShareOf(coverage int64) int64 { return min(max(coverage, leastShare), fixed.One) }

// Joint is one list of several answers.
type Joint struct {
	Items  []JointItem
	Used   int // tokens
	Left   int // items that the budget left out
	Counts []int
}

// JointItem is an item by its part and its index among that part's items, with its rank, score, tokens and text in the
// joint list.
type JointItem struct {
	Part, At int
	retrieve.Item
}

// Together merges answers into one list, keeping each one's order, under a limit of items and a budget of tokens, 0 for
// none. Each step takes the best of the next items, of equal ones the earlier part's. The result is a function of the
// arguments alone.
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

// next returns the list whose first item comes next, -1 for none: a replaced item follows its replacement.
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

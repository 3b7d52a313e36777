package retrieve

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
)

// Constants of the local reranker in ranking version 1: clause 21.1.
const (
	localTerms    = 32  // distinct terms of the text, the first, that count
	localSequence = 256 // terms of the text, the first, in which pairs are looked for
	localReach    = 16  // places between two terms beyond which they are not near
	localShare    = 8   // the best score is so many times what the local reranker may add
)

// localQuery is the text as the local reranker sees it.
type localQuery struct {
	places  map[string]int // of the terms that count among the distinct terms of the text
	weights []int64        // of these terms
	pairs   [][2]int       // terms one after the other, by their places
}

// rerankLocally adds to the scores of the window: clause 21.1. done is false where no node has a
// term of the text.
func (r *run) rerankLocally(ctx context.Context, window []*candidate) (done bool, err error) {
	a, err := text.New(Language)
	if err != nil {
		return false, err
	}
	q := newLocalQuery(a, r.req.Text)
	if len(q.places) == 0 {
		return false, nil
	}
	ids, only := make([]graph.ID, len(window)), make([]int, len(q.places))
	for i, c := range window {
		ids[i] = c.id
	}
	for t := range only {
		only[t] = t
	}
	rows, err := r.x.TermScores(ctx, r.query(r.req.Text), ids, only)
	if err != nil {
		return false, fmt.Errorf("split the scores of the text lane: %w", err)
	}
	for _, row := range rows {
		for t, n := range row {
			q.weights[t] = max(q.weights[t], n)
			done = done || n > 0
		}
	}
	if !done {
		return false, nil
	}
	top := window[0].score
	for i, c := range window {
		n, _, err := r.g.Node(ctx, c.id)
		if err != nil {
			return false, fmt.Errorf("read node %s: %w", c.id, err)
		}
		texts, err := comparedTexts(ctx, r.g, n)
		if err != nil {
			return false, err
		}
		part := (q.coverage(rows[i]) + q.proximity(a, texts)) / 2
		bonus := int64(fixed.MulDivSat(uint64(top), uint64(part), localShare*fixed.One))
		c.score += bonus
		c.lanes = append(c.lanes[:len(c.lanes):len(c.lanes)], LaneHit{Lane: LaneRerank, Score: bonus})
	}
	return true, nil
}

// newLocalQuery finds the terms of the text that count, and the pairs of them.
func newLocalQuery(a *text.Analyzer, s string) *localQuery {
	q := &localQuery{places: map[string]int{}}
	seen := map[[2]int]bool{}
	last, n := -1, 0 // place of the term before, and number of terms
	a.Each(s, func(term string) bool {
		place, known := q.places[term]
		if !known {
			place = -1
			if len(q.places) < localTerms {
				place = len(q.places)
				q.places[term] = place
			}
		}
		pair := [2]int{last, place}
		if last >= 0 && place >= 0 && last != place && !seen[pair] {
			seen[pair] = true
			q.pairs = append(q.pairs, pair)
		}
		last = place
		n++
		return n < localSequence
	})
	q.weights = make([]int64, len(q.places))
	return q
}

// coverage returns the share of the weight of all terms that the terms of a row have, in Q16.
func (q *localQuery) coverage(row []int64) int64 {
	have, all := int64(0), int64(0)
	for t, w := range q.weights {
		all += w
		if t < len(row) && row[t] > 0 {
			have += w
		}
	}
	return share(have, all)
}

// proximity returns how near the pairs are to each other in the texts, by their weights, in Q16.
func (q *localQuery) proximity(a *text.Analyzer, texts [3]string) int64 {
	best := make([]int64, len(q.pairs))
	for _, s := range texts {
		places := make([][]int, len(q.weights))
		at := 0
		a.Each(s, func(term string) bool {
			if t, ok := q.places[term]; ok {
				places[t] = append(places[t], at)
			}
			at++
			return true
		})
		for i, p := range q.pairs {
			best[i] = max(best[i], nearness(places[p[0]], places[p[1]]))
		}
	}
	have, all := int64(0), int64(0)
	for i, p := range q.pairs {
		w := min(q.weights[p[0]], q.weights[p[1]])
		all += w
		have += int64(fixed.MulDivSat(uint64(w), uint64(best[i]), fixed.One))
	}
	return share(have, all)
}

// nearness returns 1 in Q16 where a place of the first list is just before one of the second, else
// 1/(d+1) for the least distance d between them, 0 beyond localReach. Both lists ascend.
func nearness(first, second []int) int64 {
	least := localReach + 1
	for i, j := 0, 0; i < len(first) && j < len(second); {
		d := second[j] - first[i]
		if d == 1 {
			return fixed.One
		}
		if d > 0 {
			least = min(least, d)
			i++
		} else {
			least = min(least, -d)
			j++
		}
	}
	if least > localReach {
		return 0
	}
	return fixed.One / int64(least+1)
}

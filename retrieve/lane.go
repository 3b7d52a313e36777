package retrieve

import (
	"slices"
	"strings"
)

// Lane names one of the lists that an item may be found in.
type Lane string

// The fused lanes, besides those of LaneDense and LaneSparse.
const (
	LaneText    Lane = "text"
	LaneRecency Lane = "recency"
	LaneTime    Lane = "time" // near the dates that the text names; the score is how near
)

// Lists that other steps make.
const (
	LaneExact  Lane = "exact"  // named by the text; the score is 65,536
	LaneTitle  Lane = "title"  // named by its title; the score is the amount that this adds
	LaneExpand Lane = "expand" // reached over edges and mentions; the score is the sum of the contributions
	LaneRerank Lane = "rerank" // reranked; the score is the reranker's, or the amount that it adds
	LaneRecall Lane = "recall" // raised by the signals of a recall; the score is the amount
)

const (
	denseLane  = "dense:"
	sparseLane = "sparse:"
)

// LaneDense returns the name of the dense lane of a model.
func LaneDense(model string) Lane { return Lane(denseLane + model) }

// LaneSparse returns the name of the sparse lane of a model.
func LaneSparse(model string) Lane { return Lane(sparseLane + model) }

// Model returns the model of a lane that is by embeddings.
func (l Lane) Model() (model string, ok bool) {
	if model, ok = strings.CutPrefix(string(l), denseLane); !ok {
		model, ok = strings.CutPrefix(string(l), sparseLane)
	}
	return model, ok
}

// maxLanes is the largest number of lanes that a request may weigh: two of the text, its rewrites, and both kinds of
// vectors.
const maxLanes = 2 + MaxRewrites + 2*MaxVectors

// weighable reports whether a lane may be given a weight.
func (l Lane) weighable() bool {
	if model, ok := l.Model(); ok {
		return checkModel(model) == nil
	}
	_, ok := l.rewrite()
	return l == LaneText || l == LaneTime || ok
}

// Weighable returns the lanes that the request has and that may be given weights.
func (r Request) Weighable() []Lane {
	var list []Lane
	if hasWords(r.Text) {
		list = append(list, LaneText, LaneTime)
	}
	for i := range r.Rewrites {
		list = append(list, LaneRewrite(i+1))
	}
	for _, v := range r.Vectors {
		list = append(list, LaneDense(v.Model))
	}
	for _, v := range r.Sparse {
		list = append(list, LaneSparse(v.Model))
	}
	return list
}

// off reports whether a lane that the request has has no weight.
func (r Request) off(lane Lane) bool {
	for _, w := range r.Weights {
		if w.Lane == lane {
			return w.Weight == 0
		}
	}
	return false
}

// otherLanes reports whether a lane other than LaneTime has a weight.
func (r Request) otherLanes() bool {
	return slices.ContainsFunc(r.Weighable(), func(l Lane) bool { return l != LaneTime && !r.off(l) })
}

// LaneHit is an item's rank and score in one list.
type LaneHit struct {
	Lane  Lane  `json:"lane"`
	Rank  int   `json:"rank"` // from 1
	Score int64 `json:"score"`
}

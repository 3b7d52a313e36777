package retrieve

import "strings"

// Lane names a list in which an item was found.
type Lane string

// The lanes whose lists are fused, beside those of LaneDense.
const (
	LaneText    Lane = "text"
	LaneRecency Lane = "recency"
	LaneTime    Lane = "time" // near the dates that the text names; the score is how near
)

// Lists that other steps make.
const (
	LaneExact  Lane = "exact"  // named by the text; the score is 65,536
	LaneTitle  Lane = "title"  // named by its title; the score is what that adds
	LaneExpand Lane = "expand" // lent to over edges and mentions; the score is the sum
	LaneRerank Lane = "rerank" // reranked; the score is the reranker's, or what it adds
)

const denseLane = "dense:"

// LaneDense returns the name of the dense lane of a model.
func LaneDense(model string) Lane { return Lane(denseLane + model) }

// model returns the model of a dense lane.
func (l Lane) model() (model string, ok bool) {
	return strings.CutPrefix(string(l), denseLane)
}

// maxLanes is the largest number of lanes that a request may weigh.
const maxLanes = 2 + MaxVectors + MaxRewrites

// weighable reports whether a lane may be given a weight.
func (l Lane) weighable() bool {
	if model, ok := l.model(); ok {
		return checkModel(model) == nil
	}
	_, ok := l.rewrite()
	return l == LaneText || l == LaneTime || ok
}

// weighed returns the lanes that the request has and that may be given weights.
func (r Request) weighed() []Lane {
	var list []Lane
	if trimBlank(r.Text) != "" {
		list = append(list, LaneText, LaneTime)
	}
	for i := range r.Rewrites {
		list = append(list, LaneRewrite(i+1))
	}
	for _, v := range r.Vectors {
		list = append(list, LaneDense(v.Model))
	}
	return list
}

// LaneHit is an item's place in one list.
type LaneHit struct {
	Lane  Lane
	Rank  int // from 1
	Score int64
}

package stage

import (
	"time"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Trace records how an answer was computed, for --explain. It depends on the layout of indexes and on the clock, so
// answers and receipts never include it.
type Trace struct {
	// Clock returns the time since any fixed moment; nil for no times.
	Clock func() time.Duration `json:"-"`

	Lanes  []LaneTrace `json:"lanes"`  // the lanes that ran, in order
	Stages []StageTime `json:"stages"` // in order; nil without a clock
	mark   time.Duration
}

// LaneTrace is one lane's part in an answer.
type LaneTrace struct {
	Lane   retrieve.Lane `json:"lane"`
	Weight int64         `json:"weight"` // in units of 2^-16
	// Passed and LeftOut are how many nodes the filters were asked about. A node that could not be
	// among the best 1,000 may not be asked about.
	Passed  int            `json:"passed"`
	Found   int            `json:"found"` // nodes in the lane's list
	LeftOut source.LeftOut `json:"left_out"`
	Best    int64          `json:"best"` // score in the list, 0 for an empty one
	Worst   int64          `json:"worst"`
	Ground  int64          `json:"-"` // of a score that counts as nothing
	Whole   int64          `json:"-"` // a score that counts wholly
}

// Stage names a part of a retrieval.
type Stage string

// The stages in their order. Packing includes rendering and arranging.
const (
	StageLanes   Stage = "lanes"
	StageFuse    Stage = "fuse"
	StageExpand  Stage = "expand"
	StageRecall  Stage = "recall"
	StageRerank  Stage = "rerank"
	StageArrange Stage = "arrange"
	StagePack    Stage = "pack"
)

// StageTime is how long a stage took.
type StageTime struct {
	Stage  Stage `json:"stage"`
	Micros int64 `json:"micros"` // microseconds
}

// Share returns the score that fusion gives an item's rank in a lane, before the lane's weight: units of 2^-16, in
// fusion by ranks of 2^-32.
func (t LaneTrace) Share(f retrieve.Fusion, h retrieve.LaneHit) int64 {
	switch {
	case byRanks(f):
		return reciprocal(1<<16, h.Rank)
	case f == retrieve.ScoreNorm && t.Best == t.Worst:
		return 1 << 16
	case f == retrieve.ScoreNorm:
		return share(h.Score-t.Worst, t.Best-t.Worst)
	}
	return share(h.Score-t.Ground, t.Whole-t.Ground)
}

// begin clears the record of an earlier attempt.
func (t *Trace) begin() {
	if t == nil {
		return
	}
	t.Lanes, t.Stages = nil, nil
	if t.Clock != nil {
		t.mark = t.Clock()
	}
}

func (t *Trace) stage(s Stage) {
	if t == nil || t.Clock == nil {
		return
	}
	now := t.Clock()
	t.Stages = append(t.Stages, StageTime{s, (now - t.mark).Microseconds()})
	t.mark = now
}

// weighed notes the weights that lanes have when all have ended.
func (t *Trace) weighed(lists []*laneList) {
	if t == nil {
		return
	}
	for i := range t.Lanes {
		for _, l := range lists {
			if l.lane == t.Lanes[i].Lane {
				t.Lanes[i].Weight, t.Lanes[i].Whole = l.weight, l.whole
			}
		}
	}
}

// laneDone records the result of a lane, and the filters' checks since before.
func (f *finder) laneDone(lane retrieve.Lane, hits []source.Hit, ground int64, before source.FilterCounts) {
	t := LaneTrace{
		Lane: lane, Weight: f.weight(lane), Found: len(hits), Ground: ground,
		Passed:  f.filter.Seen.Passed - before.Passed,
		LeftOut: f.filter.Seen.Left.Minus(before.Left),
	}
	if len(hits) > 0 {
		t.Best, t.Worst = hits[0].Score, hits[len(hits)-1].Score
		t.Whole = t.Best
	}
	if len(hits) == 0 && lane != retrieve.LaneText && t.LeftOut.Sum() > 0 {
		f.blocked = true
	}
	if f.trace != nil {
		f.trace.Lanes = append(f.trace.Lanes, t)
	}
}

package check

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// MaxSampled is how many memories percentiles are taken of.
	MaxSampled = 200
	// maxSampledText is how many scalars of a memory are asked for.
	maxSampledText = 1000
)

// Percentiles are values of a sample by nearest rank: of n values ascending, percentile p is the one
// at ⌈p·n/100⌉. All are 0 of an empty sample. Units of 2^-16.
type Percentiles struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// Scores say how the memories of a commit look to each other: what check finds of the text
// of one in all others, and how alike the nearest is to it as remember compares texts. A threshold of
// STRONG below what most memories have of each other says little; one of a duplicate likewise.
type Scores struct {
	Sampled  int            `json:"sampled"`
	Check    CheckScores    `json:"check"`
	Remember RememberScores `json:"remember"`
}

// CheckScores are the scores of Evidence.
type CheckScores struct {
	Coverage Percentiles `json:"coverage"`
	Evidence Percentiles `json:"evidence"`
	Lead     Percentiles `json:"lead"`
}

// RememberScores are the scores of remember.
type RememberScores struct {
	Similarity Percentiles `json:"similarity"` // of texts
}

// SampleScores takes the percentiles of at most MaxSampled memories, each left out of what it is
// compared with: those at even distances in the order of their ids, which are hashes. Nodes without a
// summary count for nothing. It costs a retrieval for each.
func SampleScores(
	ctx context.Context, s *core.Snapshot, progress func(done, total int),
) (*Scores, error) {
	ids, err := s.SampleIDs(ctx, MaxSampled)
	if err != nil {
		return nil, err
	}
	var lists [4][]int64
	for i, id := range ids {
		n, _, err := s.Node(ctx, id)
		if err != nil {
			return nil, err
		}
		if n.Type == state.RedactedType || blankText(n.Summary) {
			continue
		}
		e, alike, err := sampleOne(ctx, s, n)
		if err != nil {
			return nil, err
		}
		for k, v := range []int64{e.Coverage, e.Evidence, e.Lead, alike} {
			lists[k] = append(lists[k], v)
		}
		if progress != nil {
			progress(i+1, len(ids))
		}
	}
	out := &Scores{Sampled: len(lists[0])}
	c := &out.Check
	for k, to := range []*Percentiles{&c.Coverage, &c.Evidence, &c.Lead, &out.Remember.Similarity} {
		*to = percentiles(lists[k])
	}
	return out, nil
}

// sampleOne returns what check finds of a memory's text in the others, and how alike the most alike
// of those it looks at is.
func sampleOne(
	ctx context.Context, s *core.Snapshot, n *graph.Node,
) (e Evidence, alike int64, err error) {
	asked := text.FirstScalars(n.Summary, maxSampledText)
	res, err := Check(ctx, s, Request{
		Request: retrieve.Request{Text: asked, Exclude: []graph.ID{n.ID}},
		Gate:    GateLexical, Nearest: new(MaxNearest),
	})
	if err != nil || res.Signals == nil {
		return e, 0, err
	}
	own := compare.Analyse(asked)
	look := res.Nearest
	if res.Best != nil {
		look = append([]*Evidence{res.Best}, look...)
	}
	for _, near := range look {
		other, _, err := s.Node(ctx, near.ID)
		if err != nil {
			return e, 0, err
		}
		c := own.Compare(compare.Analyse(text.FirstScalars(other.Summary, maxSampledText)))
		alike = max(alike, c.Similarity)
	}
	return *res.Signals, alike, nil
}

func percentiles(list []int64) Percentiles {
	if len(list) == 0 {
		return Percentiles{}
	}
	slices.Sort(list)
	at := func(p int) int64 { return list[(p*len(list)+99)/100-1] }
	return Percentiles{at(50), at(90), at(95), at(99), list[len(list)-1]}
}

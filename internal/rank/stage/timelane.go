package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of the time lane in ranking version 1: clause 9.9.
const (
	// timeWeight is the share that a score gains if the node belongs to the time asked about.
	timeWeight = fixed.One / 2
	// timeListWeight is the weight of the lane's list if only a time is asked for. It is so large that no other lane
	// moves a node of that time behind one of another.
	timeListWeight = 4 * fixed.One
	// placeStep is the score of one position in the lane's list.
	placeStep = 16
	// The low bits of ranks in the index are for the beginning of a node's time, in units of 2^23 microseconds: of
	// equally near nodes the newer come first.
	startBits, startUnit = 36, 23
)

// CountsFromNow reports whether the text has a date that counts from now, like "last week", or one
// without a year, and the lane of dates is not switched off: only then Now matters.
func CountsFromNow(r retrieve.Request) bool {
	return weightOfTime(r, timeWeight) > 0 && dates.Read(r.Text, dates.Now{}).Relative
}

// weightOfTime returns the weight of the time lane, whose own list has a different default.
func weightOfTime(r retrieve.Request, otherwise int64) int64 {
	for _, w := range r.Weights {
		if w.Lane == retrieve.LaneTime {
			return w.Weight
		}
	}
	return otherwise
}

// dated holds the dates of a request for the time lane.
type dated struct {
	dates.Reading
	alone bool // whether the lane has a separate list
	hit   bool // whether that list has a node of the time asked about
}

// ReadDates reads the dates that the text of a request names, in days of UTC; none if the lane of dates is switched
// off.
func ReadDates(r retrieve.Request) dates.Reading {
	if weightOfTime(r, timeWeight) <= 0 {
		return dates.Reading{}
	}
	now := dates.Now{}
	if r.Now.Given {
		now = dates.At(int64(r.Now.Time))
	}
	return dates.Read(r.Text, now)
}

// checkDays refuses days that do not match the dates of the text. It needs the text, which Validate does not.
func checkDays(r *retrieve.Request) error {
	if len(r.Days) == 0 || weightOfTime(*r, timeWeight) <= 0 {
		return nil
	}
	if named := len(ReadDates(*r).Ranges); named != len(r.Days) {
		return r.DaysError(named)
	}
	return nil
}

// readDates reads the dates of a resolved request, and drops the now and the days that they do not need.
func readDates(req *retrieve.Request) dated {
	d := dated{Reading: ReadDates(*req)}
	if !d.Relative {
		req.Now = graph.OptTime{}
	}
	if len(req.Days) != len(d.Ranges) {
		req.Days = nil
	}
	for i, day := range req.Days {
		r := &d.Ranges[i]
		r.From, r.To = dates.NoFrom, dates.NoTo
		if day.From.Given {
			r.From = int64(day.From.Time)
		}
		if day.To.Given {
			r.To = int64(day.To.Time)
		}
	}
	d.alone = len(d.Ranges) > 0 && (d.Bare || !othersRun(*req))
	return d
}

func othersRun(r retrieve.Request) bool {
	return slices.ContainsFunc(r.Weighable(), func(l retrieve.Lane) bool {
		return l != retrieve.LaneTime && laneWeight(r, l) > 0
	})
}

// ranges returns the times in the form of answers. What no node's time can reach is open.
func (d *dated) ranges() []retrieve.DateRange {
	var out []retrieve.DateRange
	for _, r := range d.Ranges {
		var o retrieve.DateRange
		if r.From > int64(graph.MinTime) {
			o.From = graph.At(graph.Time(min(r.From, int64(graph.MaxTime))))
		}
		if r.To <= int64(graph.MaxTime) {
			o.To = graph.At(graph.Time(max(r.To, int64(graph.MinTime))))
		}
		out = append(out, o)
	}
	return out
}

// near returns how near a node's time is to the nearest of the times asked about: 65,536 if it belongs to one, and
// always less for other nodes.
func (d *dated) near(t source.Times) int64 {
	first, last := lifetime(t)
	best := int64(0)
	for _, r := range d.Ranges {
		gap := int64(0)
		switch {
		case r.From != dates.NoFrom && last < r.From:
			gap = r.From - last
		case r.To != dates.NoTo && first >= r.To:
			gap = first - r.To
		default:
			return fixed.One
		}
		n := fixed.MulDivSat(uint64(r.Scale), fixed.One, uint64(r.Scale+gap))
		best = max(best, min(int64(n), fixed.One-1))
	}
	return best
}

// lifetime returns the first and the last microsecond of the time that a node is about.
func lifetime(t source.Times) (first, last int64) {
	first = int64(t.Created)
	if t.ValidFrom.Given {
		first = int64(t.ValidFrom.Time)
	}
	switch {
	case t.ValidTo.Given:
		return first, max(first, int64(t.ValidTo.Time)-1)
	case t.ValidFrom.Given:
		return first, int64(graph.MaxTime)
	}
	return first, first
}

// favour raises the scores of the candidates by how near they are to the time asked about. It adds no candidate.
func (p *pool) favour(ctx context.Context) error {
	d := &p.dated
	if len(d.Ranges) == 0 || d.alone {
		return nil
	}
	weight := weightOfTime(p.req, timeWeight)
	times, ok, err := p.x.Times(ctx, idsOf(p.found))
	if err != nil {
		return fmt.Errorf("look up the times of candidates: %w", err)
	}
	var list []*candidate
	for i, c := range p.found {
		if !ok[i] {
			continue
		}
		near := d.near(times[i])
		if near == 0 {
			continue
		}
		more := fixed.MulDivSat(uint64(c.score), uint64(near*weight), fixed.One*fixed.One)
		c.score = int64(min(fixed.AddSat(uint64(c.score), more), graph.MaxCount))
		c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneTime, Score: near})
		list = append(list, c)
	}
	rankLast(list)
	return nil
}

// timeList returns the lane's list: by nearness, equally near nodes newest first.
func (f *finder) timeList(ctx context.Context) ([]source.Hit, error) {
	hits, err := f.x.ByTime(ctx, func(t source.Times) int64 {
		near := f.dated.near(t)
		if near == 0 {
			return 0
		}
		first, _ := lifetime(t)
		return near<<startBits + (first-int64(graph.MinTime))>>startUnit
	}, f.filter.Accept(ctx), laneDepth)
	hits = ranked(hits)
	for i := range hits {
		near := hits[i].Score >> startBits
		if near == fixed.One {
			f.dated.hit = true
		} else {
			near /= 2
		}
		hits[i].Score = near + placeStep*int64(laneDepth-i)
	}
	return hits, err
}

func (r *request) timeWarnings() []retrieve.Warning {
	var out []retrieve.Warning
	if r.dated.Unread > 0 {
		out = append(out, warning(retrieve.NoNow, number("dates", r.dated.Unread)))
	}
	if r.dated.alone && !r.dated.hit {
		out = append(out, warning(retrieve.NoneThen))
	}
	return out
}

package verb

import (
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/zones"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/retrieve"
)

// The variable and the key that name the zone of days in questions.
const (
	ZoneVariable = "TZ"
	ZoneKey      = "zone"
)

// CheckZone refuses a name that is no zone.
func CheckZone(name string) error {
	if _, err := zones.Find(name); err != nil {
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return nil
}

const dayMicros = 24 * 60 * 60 * 1_000_000

// InZone lets the dates of a request's text be days of a zone. Relative ones count from today, unless the request has a
// now: a time at which a day of UTC begins is that day in every zone. A zone that is not known is an error only if the
// text has a date; no other text depends on the clock or the zone.
func InZone(host Host, zone string, r *retrieve.Request) error {
	relative := stage.CountsFromNow(*r)
	if !relative && len(stage.ReadDates(*r).Ranges) == 0 || len(r.Days) > 0 {
		return nil
	}
	z, err := zones.Find(zone)
	if err != nil {
		return Bad(ZoneKey, "%w", err)
	}
	if relative && !r.Now.Given {
		now, err := host.Now()
		if err != nil {
			return err
		}
		r.Now = graph.At(now)
	}
	if at := int64(r.Now.Time); r.Now.Given && at%dayMicros != 0 {
		r.Now.Time = graph.Time(z.Day(at) * dayMicros)
	}
	r.Days = daysOf(z, stage.ReadDates(*r).Ranges)
	return nil
}

// daysOf returns the times of days in a zone, given as days of UTC; nil if they are the same.
func daysOf(z *zones.Zone, list []dates.Range) []retrieve.DateRange {
	differ := false
	end := func(at, none int64) graph.OptTime {
		if at == none {
			return graph.OptTime{}
		}
		begin := z.Begin(at / dayMicros)
		differ = differ || begin != at
		return graph.At(min(max(graph.Time(begin), graph.MinTime), graph.MaxTime))
	}
	var out []retrieve.DateRange
	for _, r := range list {
		out = append(out, retrieve.DateRange{From: end(r.From, dates.NoFrom), To: end(r.To, dates.NoTo)})
	}
	if !differ {
		return nil
	}
	return out
}

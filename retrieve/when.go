package retrieve

import (
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// MaxDays is the largest number of times that the text of a request names.
const MaxDays = 8

// DateRange is a time that the text of a request names.
type DateRange struct {
	From graph.OptTime `json:"from"` // inclusive
	To   graph.OptTime `json:"to"`   // exclusive
}

// DaysError refuses Days that are not of the dates that the text names.
func (r *Request) DaysError(named int) error {
	return badParam("days", "%d times, but the text names %d", len(r.Days), named)
}

func (r *Request) checkDays() error {
	if len(r.Days) > MaxDays {
		return badParam("days", "%d times, limit %d", len(r.Days), MaxDays)
	}
	for _, d := range r.Days {
		for _, end := range []graph.OptTime{d.From, d.To} {
			if end.Time < graph.MinTime || end.Time > graph.MaxTime {
				return badParam("days", "%d µs is outside %d to %d", int64(end.Time), int64(graph.MinTime), int64(graph.MaxTime))
			}
		}
		if !d.From.Given && !d.To.Given || d.From.Given && d.To.Given && d.From.Time >= d.To.Time {
			return badParam("days", "a time without a beginning and an end, or with nothing between them")
		}
	}
	return nil
}

// keptDays returns a copy, nil for the empty list.
func keptDays(list []DateRange) []DateRange { return slices.Clone(orNone(list)) }

func encodeDays(list []DateRange) ipld.Value {
	out := make([]ipld.Value, len(list))
	for i, d := range list {
		var ends []ipld.Entry
		if d.From.Given {
			ends = append(ends, ipld.Entry{Key: "from", Value: ipld.IntValue(int64(d.From.Time))})
		}
		if d.To.Given {
			ends = append(ends, ipld.Entry{Key: "to", Value: ipld.IntValue(int64(d.To.Time))})
		}
		out[i] = ipld.MapValue(ends...)
	}
	return ipld.ListValue(out...)
}

func decodeDays(v ipld.Value) []DateRange {
	end := func(day ipld.Value, name string) graph.OptTime {
		at, ok := day.Get(name)
		return graph.OptTime{Time: graph.Time(at.Int()), Given: ok}
	}
	var list []DateRange
	for _, day := range v.List() {
		list = append(list, DateRange{end(day, "from"), end(day, "to")})
	}
	return list
}

// days reads a list of objects with a beginning, an end or both.
func (p *memberParser) days() []DateRange {
	if p.v.Kind() != ipld.List {
		p.fail("%s, want a list of objects with from and to", p.v.Kind())
	}
	var out []DateRange
	for _, item := range p.v.List() {
		var d DateRange
		for _, e := range item.Entries() {
			var end *graph.OptTime
			switch e.Key {
			case "from":
				end = &d.From
			case "to":
				end = &d.To
			default:
				p.fail("%s is neither from nor to", shortQuote(e.Key))
				return nil
			}
			if e.Value.Kind() != ipld.Null {
				one := memberParser{name: p.name, v: e.Value}
				*end = one.time()
				if one.err != nil && p.err == nil {
					p.err = one.err
				}
			}
		}
		out = append(out, d)
	}
	return out
}

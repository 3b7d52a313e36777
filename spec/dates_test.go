package spec_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/dates"
)

// runDates runs a case of what clause 9.9 reads in texts.
func runDates(t *testing.T, v vector) {
	var in struct {
		Texts []string
		Now   *int64
	}
	parse(t, v.Input, &in)
	var want struct {
		Read []struct {
			Times []struct {
				From, To *int64
				Length   int64
			}
			Bare, FromNow bool
			Unread        int
		}
	}
	parse(t, v.Expect, &want)
	now := dates.Now{}
	if in.Now != nil {
		now = dates.At(*in.Now)
	}
	for i, text := range in.Texts {
		w := want.Read[i]
		var ranges []dates.Range
		for _, r := range w.Times {
			o := dates.Range{From: dates.NoFrom, To: dates.NoTo, Scale: r.Length}
			if r.From != nil {
				o.From = *r.From
			}
			if r.To != nil {
				o.To = *r.To
			}
			ranges = append(ranges, o)
		}
		got := dates.Read(text, now)
		same(t, fmt.Sprintf("%q", text), fmt.Sprintf("%+v", got),
			fmt.Sprintf("%+v", dates.Reading{Ranges: ranges, Relative: w.FromNow, Unread: w.Unread,
				Bare: w.Bare}))
	}
}

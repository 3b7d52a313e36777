package dates

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
)

// goldenTime is a Range, its open ends left out.
type goldenTime struct {
	From   *int64 `json:"from,omitempty"`
	To     *int64 `json:"to,omitempty"`
	Length int64  `json:"length"`
}

type goldenReading struct {
	Times   []goldenTime `json:"times"`
	Bare    bool         `json:"bare"`
	FromNow bool         `json:"fromNow"`
	Unread  int          `json:"unread"`
}

// TestDatesGolden freezes the times that texts name.
func TestDatesGolden(t *testing.T) {
	cases.Golden(t, "testdata/dates.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct {
			Texts []string
			Now   *int64
		}
		cases.Parse(t, c.Input, &in)
		now := Now{}
		if in.Now != nil {
			now = At(*in.Now)
		}
		all := make([]goldenReading, len(in.Texts))
		for i, text := range in.Texts {
			r := Read(text, now)
			all[i] = goldenReading{Times: []goldenTime{}, Bare: r.Bare, FromNow: r.Relative, Unread: r.Unread}
			for _, x := range r.Ranges {
				one := goldenTime{Length: x.Scale}
				if x.From != NoFrom {
					one.From = &x.From
				}
				if x.To != NoTo {
					one.To = &x.To
				}
				all[i].Times = append(all[i].Times, one)
			}
		}
		return map[string]any{"read": all}
	})
}

package cli

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// withNow lets the dates of a request count from today where it names no day itself and has such
// dates: nothing else may depend on the clock.
func (c *cli) withNow(req retrieve.Request) (retrieve.Request, error) {
	if req.Now.Given || !req.CountsFromNow() {
		return req, nil
	}
	now, err := c.now()
	req.Now = graph.At(now)
	return req, err
}

// dateJSON is a time that a query names; an end that is open is null.
type dateJSON struct {
	From *string `json:"from"`
	To   *string `json:"to"`
}

func jsonDates(list []retrieve.DateRange) []dateJSON {
	out := make([]dateJSON, len(list))
	for i, d := range list {
		out[i] = dateJSON{orNull(d.From.String()), orNull(d.To.String())}
	}
	return out
}

// printDates says how the dates of a query were read, if it has any.
func (a *answerer) printDates(ans *retrieve.Answer) error {
	if len(ans.Dates) == 0 {
		return nil
	}
	parts := make([]string, len(ans.Dates))
	for i, d := range ans.Dates {
		from, to := day(d.From), day(d.To)
		switch {
		case to == "":
			parts[i] = "since " + from
		case from == "":
			parts[i] = "before " + to
		default:
			parts[i] = from + " to " + to
		}
	}
	text := "read dates: " + strings.Join(parts, ", ")
	if ans.Request.Now.Given {
		text += fmt.Sprintf(" (today is %s)", day(ans.Request.Now))
	}
	return a.c.printf("%s\n", text)
}

// day returns the day of a time, "" for none.
func day(t graph.OptTime) string {
	s, _, _ := strings.Cut(t.String(), "T")
	return s
}

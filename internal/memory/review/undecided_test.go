package review

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestUndecidedSince has three later memories, each with an earlier one, and looks at some of the newest alone.
func TestUndecidedSince(t *testing.T) {
	said := func(day, what string) string {
		return fmt.Sprintf(`{"node":{"type":"fact","summary":%q,"created":"2025-%sT00:00:00Z"}}`, what, day)
	}
	r := memkit.Open(t,
		said("01-05", "Group meeting takes place on Monday at 9 in room 2"),
		said("01-05", "Audit logs of the ledger stay for 30 days in bucket west"),
		said("01-05", "Bread oven number four heats up to 230 degrees"),
		said("01-05", "Coffee is kept in the kitchen"))
	from := memkit.Tip(t, r)
	memkit.Tell(t, r,
		said("03-01", "Group meeting takes place on Thursday at 10 in room 2"),
		said("03-02", "Audit logs of the ledger stay for 90 days in bucket west"),
		said("03-03", "Bread oven number four heats up to 250 degrees"))
	to := memkit.Tip(t, r)
	meeting, logs, oven := "Group", "Audit", "Bread"
	for _, c := range []struct {
		newest, most int
		want         []string
	}{
		{200, 10, []string{oven, logs, meeting}},
		{200, 2, []string{oven, logs}},
		{2, 10, []string{oven, logs}},
		{1, 10, []string{oven}},
	} {
		pairs := must.Get(UndecidedSince(t.Context(), from, to, c.newest, c.most))(t)
		var got []string
		for _, p := range pairs {
			must.Check(t, p.Later.Summary[:5] == p.Earlier.Summary[:5] && p.Later.Created > p.Earlier.Created,
				"%q after %q", p.Later.Summary, p.Earlier.Summary)
			got = append(got, p.Later.Summary[:5])
		}
		must.Same(t, got, c.want, c.newest, " newest, ", c.most, " pairs")
	}
	if pairs, err := UndecidedSince(t.Context(), to, to, 200, 10); err != nil || len(pairs) > 0 {
		t.Errorf("%d pairs of nothing new, %v", len(pairs), err)
	}
}

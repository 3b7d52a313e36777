package show

import (
	"fmt"

	"github.com/mnem-project/mnem/ops"
)

// Captured prints what became of what hooks noted.
func (c *Console) Captured(q *ops.CaptureRequest, a *ops.Captured) error {
	if q.Retire {
		return c.printRetired(a)
	}
	said := fmt.Sprintf("%s of %s", plural(a.Turns, "turn"), plural(a.Sessions, "session"))
	if a.Redacted > 0 {
		said += fmt.Sprintf(", %s taken out", plural(a.Redacted, "credential"))
	}
	if a.Left > 0 {
		said += fmt.Sprintf("; %s left whose transcripts cannot be read now", plural(a.Left, "session"))
	}
	if a.Retired > 0 {
		said += fmt.Sprintf("; %s retired", plural(a.Retired, "turn"))
	}
	if a.Receipts > 0 {
		said += fmt.Sprintf("; %s of what agents were given", plural(a.Receipts, "receipt"))
	}
	if a.Commit.Defined() {
		said += " in commit " + a.Commit.String()
	}
	return c.Printf("%s\n", said)
}

// printRetired prints how many turns were retired.
func (c *Console) printRetired(a *ops.Captured) error {
	switch {
	case a.DryRun:
		return c.Printf("%s would be retired\n", plural(a.Retired, "turn"))
	case a.Commit.Defined():
		return c.Printf("%s retired in commit %s\n", plural(a.Retired, "turn"), a.Commit)
	}
	return c.Printf("%s retired\n", plural(a.Retired, "turn"))
}

package serve

import (
	"context"
	"sync/atomic"
	"time"
)

// traffic counts requests, so that a server can end when none comes.
type traffic struct {
	begun   atomic.Int64
	running atomic.Int64
}

// begin counts a request until what it returns is called.
func (t *traffic) begin() (end func()) {
	t.running.Add(1)
	t.begun.Add(1)
	return func() { t.running.Add(-1) }
}

// quietChecks is how many checks in a row must find no request: a server ends after the given time, or a quarter later.
const quietChecks = 4

// endQuiet calls end when no request came or was running for a time. It returns earlier if the context ends.
func (t *traffic) endQuiet(ctx context.Context, after time.Duration, end func()) {
	tick := time.NewTicker(max(after/quietChecks, time.Millisecond))
	defer tick.Stop()
	seen := t.begun.Load()
	for quiet := 0; quiet < quietChecks; quiet++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if begun := t.begun.Load(); begun != seen || t.running.Load() > 0 {
			seen, quiet = begun, -1
		}
	}
	end()
}

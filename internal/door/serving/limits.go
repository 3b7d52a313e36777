package serving

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/settings"
)

// limits bound what a server does.
type limits struct {
	Rate  int64         // requests a second of one token, or of all without
	Body  int64         // bytes of a request's body
	Open  int64         // repositories open at once, of several
	Quota serve.Quota   // of a repository
	Time  time.Duration // of a request, serveTime for 0
	Drain time.Duration // how long it answers after an interrupt
	Idle  time.Duration // without a request until it ends, 0 for ever
}

// readLimits reads the values of --limit, each NAME=VALUE. What is not named has its default.
func readLimits(given []string) (limits, error) {
	l := limits{Rate: 500, Body: 64 << 20, Open: defaultOpen}
	for _, text := range given {
		name, value, _ := strings.Cut(text, "=")
		if err := l.set(name, value); err != nil {
			return l, line.Usagef("--limit %s: %w", text, err)
		}
	}
	return l, nil
}

func (l *limits) set(name, value string) error {
	switch name {
	case "rate":
		return number(&l.Rate, value, 1, 1_000_000)
	case "open":
		return number(&l.Open, value, 1, maxOpen)
	case "blocks":
		return number(&l.Quota.Blocks, value, 0, math.MaxInt64)
	case "commits":
		return number(&l.Quota.Commits, value, 0, math.MaxInt64)
	case "body":
		return size(&l.Body, value, 1)
	case "size":
		return size(&l.Quota.Bytes, value, 0)
	case "idle":
		return duration(&l.Idle, value, time.Second, 30*24*time.Hour)
	case "drain":
		return duration(&l.Drain, value, 0, time.Hour)
	}
	return fmt.Errorf("want rate, body, open, size, blocks, commits, idle or drain, with = and a value")
}

func number(to *int64, text string, low, high int64) (err error) {
	if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < low || *to > high {
		return fmt.Errorf("want a number from %d to %d", low, high)
	}
	return nil
}

func size(to *int64, text string, low int64) (err error) {
	if *to, err = settings.ParseSize(text); err == nil && *to < low {
		err = fmt.Errorf("want at least %d byte", low)
	}
	return err
}

func duration(to *time.Duration, text string, low, high time.Duration) (err error) {
	if *to, err = time.ParseDuration(text); err != nil || *to < low || *to > high {
		return fmt.Errorf("want a duration from %s to %s", low, high)
	}
	return nil
}

// quota returns the bounds of a repository. Only a database counts blocks and commits.
func (l *limits) quota(counts bool) (serve.Quota, error) {
	if !counts && (l.Quota.Blocks > 0 || l.Quota.Commits > 0) {
		return serve.Quota{}, line.Usagef("--limit blocks=N and commits=N are for repositories in a database, which counts them")
	}
	return l.Quota, nil
}

package serve

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Usage describes a repository's size and activity. Unknown numbers are negative.
type Usage struct {
	Blocks, Bytes int64
	Commits       int64 // of this day, in UTC
}

// Quota bounds a repository's size and activity. A zero bounds nothing.
type Quota struct {
	Blocks, Bytes int64
	Commits       int64 // a day
}

// Usages returns a repository's usage. It may be some seconds old unless fresh is set.
type Usages func(fresh bool) (Usage, error)

// over returns the problem of a repository that may not have n bytes more, or may not change again today; nil if
// it may.
func (q *Quota) over(u Usage, n int64, now time.Time) *problem {
	switch {
	case q.Bytes > 0 && u.Bytes+n > q.Bytes:
		return full("the repository has as many bytes as it may have: %d", q.Bytes)
	case q.Blocks > 0 && u.Blocks >= q.Blocks:
		return full("the repository has as many blocks as it may have: %d", q.Blocks)
	case q.Commits > 0 && u.Commits >= q.Commits:
		p := newProblem(http.StatusTooManyRequests, codeQuota, "the repository was changed as often today as it may be: %d times",
			q.Commits)
		day := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		p.header = http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(day.Sub(now).Seconds())))}}
		p.Hint = "a day begins at midnight, in UTC"
		return p
	}
	return nil
}

func full(format string, args ...any) *problem {
	p := newProblem(http.StatusInsufficientStorage, codeQuota, "%s", fmt.Sprintf(format, args...))
	p.Hint = "remove something and collect garbage, or have the server's --limit raised"
	return p
}

// room returns the problem of a repository without room for n bytes more, nil if there is room. Operations that need a
// token of scope admin are not checked: purges and collections make room.
func (s *Server) room(n int64) *problem {
	if s.cfg.Quota == (Quota{}) {
		return nil
	}
	u, err := s.cfg.Usage(false)
	if err == nil {
		p := s.cfg.Quota.over(u, n, s.cfg.Now())
		if p == nil {
			return nil
		}
		if u, err = s.cfg.Usage(true); err == nil { // a collection may have made room since
			return s.cfg.Quota.over(u, n, s.cfg.Now())
		}
	}
	s.cfg.Log.Error("what the repository has cannot be counted", "cause", err)
	return ofError(err, "what the repository has cannot be counted")
}

package stage

import (
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// checkResolved refuses what only a repository and a session can turn into ids.
func checkResolved(r *retrieve.Request) error {
	if len(r.ExcludeNames) > 0 {
		return source.Reject("exclude", "names need a repository that knows them: give ids")
	}
	if r.Unseen {
		return source.Reject("unseen", "needs a session: only a session knows what it has shown")
	}
	if r.Profile != "" && !r.Settled {
		return source.Reject("profile", "needs a repository, which knows its profiles")
	}
	return nil
}

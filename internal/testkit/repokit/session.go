package repokit

import (
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Chain returns a session's records, oldest first, and checks that they are a chain.
func Chain(t testing.TB, r *core.Repo, name string) []*retrieve.Session {
	t.Helper()
	var recs []*retrieve.Session
	var after ipld.CID
	for e, err := range session.SessionLog(t.Context(), r, name) {
		must.OK(t, err)
		if len(recs) > 0 && e.CID != after {
			t.Errorf("record %s follows a link to %s", e.CID, after)
		}
		after = e.Record.Prev
		recs = append([]*retrieve.Session{e.Record}, recs...)
	}
	for i, rec := range recs {
		if rec.Seq != int64(i) || rec.Name != name || rec.Prev.Defined() != (i > 0) {
			t.Errorf("record %d: %+v", i, rec)
		}
	}
	return recs
}

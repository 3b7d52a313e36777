package repokit

import (
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TitleOf returns the title of the newest commit, by the titler.
func TitleOf(t testing.TB, r *core.Repo, titles history.Titler) string {
	t.Helper()
	for e, err := range history.Log(t.Context(), r, "HEAD") {
		must.OK(t, err)
		got, err := titles.Commit(t.Context(), e.Diff, e.Nodes, e.Edges)
		must.OK(t, err)
		return got
	}
	t.Fatal("no commit")
	return ""
}

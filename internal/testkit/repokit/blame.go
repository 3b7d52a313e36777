package repokit

import (
	"context"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// CommitBy commits lines as somebody at a time.
func CommitBy(t testing.TB, r *core.Repo, who state.Stamp, message, text string) ipld.CID {
	t.Helper()
	if who.Command == nil {
		who.Command = By.Command
	}
	res, err := r.Commit(context.Background(), state.ReadChanges(strings.NewReader(text), "x"),
		core.CommitOptions{Stamp: who, Message: message})
	must.OK(t, err)
	return res.Commit
}

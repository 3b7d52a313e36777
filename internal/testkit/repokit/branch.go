package repokit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// RefOptions are default options for tests.
var RefOptions = core.RefOptions{Stamp: By}

// Fact commits one node on a branch, "" for the branch of HEAD.
func Fact(t testing.TB, r *core.Repo, branch, key string) ipld.CID {
	t.Helper()
	line := fmt.Sprintf(`{"node":{"key":%q,"type":"T"}}`, key)
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "fact"),
		core.CommitOptions{Stamp: By, Message: key, Branch: branch})
	must.OK(t, err)
	return res.Commit
}

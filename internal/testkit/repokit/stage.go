package repokit

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// StageLines stages change lines as By in the default stage.
func StageLines(t testing.TB, r *core.Repo, text string) *core.StageResult {
	t.Helper()
	res, err := r.Stages().Add(t.Context(), state.ReadChanges(strings.NewReader(text), "test.jsonl"),
		core.StageOptions{Stamp: By})
	must.OK(t, err)
	return res
}

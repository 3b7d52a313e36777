package repokit

import (
	"context"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// InitEmpty makes a repository on disk and closes it.
func InitEmpty(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	r, err := care.Init(t.Context(), dir, By, core.Options{})
	must.OK(t, err)
	must.OK(t, r.Close())
	return dir
}

// QuickClean is Clean without the trees of every old commit.
func QuickClean(r *core.Repo) error {
	report, err := care.Fsck(context.Background(), r, care.FsckOptions{})
	if err == nil && len(report.Errors) > 0 {
		err = fmt.Errorf("fsck: %+v", report.Errors)
	}
	return err
}

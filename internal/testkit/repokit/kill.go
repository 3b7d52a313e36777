package repokit

import (
	"context"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
)

// InitEmpty makes a repository on disk and closes it.
func InitEmpty(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	r, err := care.Init(t.Context(), dir, By, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
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

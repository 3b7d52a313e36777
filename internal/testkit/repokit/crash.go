package repokit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/ipld"
)

const (
	CrashDir  = "/memory" // of repositories on file systems in memory
	CrashSeed = 7         // of the random numbers of crash tests
)

// Logf discards the log messages of a store.
func Logf(string, ...any) {}

// Promises records what a repository acknowledged before a power cut.
type Promises struct {
	Init     bool
	Commits  []ipld.CID
	Receipts []ipld.CID
	Staged   int // edits of the stage so far
}

// OpenCrashed opens the repository in CrashDir after a power cut. It makes one if Init was not acknowledged and
// nothing is there.
func OpenCrashed(fsys vfs.FS, p Promises) (*core.Repo, error) {
	opt := core.Options{FS: fsys, Logf: Logf}
	if p.Init {
		return care.Open(CrashDir, opt)
	}
	r, err := care.Init(context.Background(), CrashDir, By, opt)
	if errors.Is(err, fs.ErrExist) {
		return care.Open(CrashDir, opt)
	}
	return r, err
}

// History returns the commits that HEAD reaches, none in a repository without commits.
func History(r *core.Repo) (map[ipld.CID]bool, error) {
	seen := make(map[ipld.CID]bool)
	_, newest, err := r.Branch(context.Background())
	if err != nil || !newest.Defined() {
		return seen, err
	}
	for e, err := range history.Log(context.Background(), r, "HEAD") {
		if err != nil {
			return seen, err
		}
		seen[e.CID] = true
	}
	return seen, nil
}

// Clean returns an error that lists what a full fsck finds, nil for nothing.
func Clean(r *core.Repo) error {
	report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
	if err != nil {
		return fmt.Errorf("fsck: %w", err)
	}
	for _, e := range report.Errors {
		err = errors.Join(err, fmt.Errorf("fsck: %s %s: %s", e.Kind, e.CID, e.Message))
	}
	return err
}

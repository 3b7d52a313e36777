package repokit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
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

// InitEmpty makes a repository on disk and closes it.
func InitEmpty(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	r := must.Get(care.Init(t.Context(), dir, By, core.Options{}))(t)
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

// Stale is the number of commits that a writer makes against one snapshot.
const Stale = 5

// FactLines returns the key and the lines of a fact: a node, an edge from it to the node hub, and, once every Stale
// facts, a property of hub.
func FactLines(writer string, i int) (key, text string) {
	key = fmt.Sprintf("%s-%d", writer, i)
	text = fmt.Sprintf(`{"node":{"key":%q,"type":"Fact","summary":"fact %d of %s"}}
{"edge":{"type":"of","src":%q,"dst":"hub"}}`, key, i, writer, key)
	if i%Stale == 0 {
		text += fmt.Sprintf("\n"+`{"node":{"key":"hub","props":{%q:%d}}}`, writer, i)
	}
	return key, text
}

// WriteFacts commits facts one by one against a snapshot taken every few commits, so that most
// were made for an older commit than the newest.
func WriteFacts(ctx context.Context, r *core.Repo, writer string, n int) error {
	var base ipld.CID
	for i := range n {
		if i%Stale == 0 {
			_, head, err := r.Branch(ctx)
			if err != nil {
				return err
			}
			base = head
		}
		key, text := FactLines(writer, i)
		stamp := By
		stamp.Time += graph.Time(i)
		_, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(text), key),
			core.CommitOptions{Stamp: stamp, Base: &base})
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

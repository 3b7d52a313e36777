// Package care maintains a repository: it opens one and finishes interrupted work, checks everything (fsck),
// rebuilds derived data, collects unreachable blocks, and erases permanently.
package care

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
)

// Init makes a new repository in dir/.mnem, with HEAD on opt.Branch and no commit yet. It returns an error wrapping
// fs.ErrExist if one exists.
func Init(ctx context.Context, dir string, by state.Stamp, opt core.Options) (*core.Repo, error) {
	path := filepath.Join(dir, core.DirName)
	if err := core.CheckNewName("branch", opt.FirstBranch()); err != nil {
		return nil, err
	}
	st, err := core.OpenStore(ctx, path, true, opt)
	if err != nil {
		return nil, fmt.Errorf("init %s: %w", path, err)
	}
	head, err := st.Head(ctx)
	if err == nil && head.Seq != 0 {
		err = fmt.Errorf("repository %s: %w", path, fs.ErrExist)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	r, err := New(ctx, st, by, opt)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	r.Dir = path
	return r, nil
}

// IgnoreFile is the file by which git ignores the repository in dir/.mnem.
func IgnoreFile(dir string) string { return filepath.Join(dir, core.DirName, ".gitignore") }

// IgnoreInGit keeps the repository in dir/.mnem out of the git repository around it.
func IgnoreInGit(dir string) error {
	path := filepath.Join(dir, core.DirName)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil // it is in memory or in a database
	}
	err := filestate.Create(IgnoreFile(dir), []byte("*\n"))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("init %s: %w", path, err)
	}
	return nil
}

// Open opens the repository in dir/.mnem. It returns an error wrapping store.ErrNotFound if there is none,
// store.ErrBusy if another process holds it beyond opt.Wait, and store.ErrCorrupt if the store does not have the
// newest acknowledged operation.
func Open(dir string, opt core.Options) (*core.Repo, error) {
	path := filepath.Join(dir, core.DirName)
	st, err := core.OpenStore(context.Background(), path, false, opt)
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", path, err)
	}
	r := core.Over(st, opt)
	r.Dir = path
	if err := resume(context.Background(), r); err != nil {
		return nil, errors.Join(fmt.Errorf("open repository %s: %w", path, err), st.Close())
	}
	return r, nil
}

// New returns a repository over a store, which it makes if the store is empty. Close closes the store.
func New(ctx context.Context, st store.Store, by state.Stamp, opt core.Options) (*core.Repo, error) {
	r := core.Over(st, opt)
	head, err := st.Head(ctx)
	if err != nil {
		return r, err
	}
	if head.Seq != 0 {
		return r, resume(ctx, r)
	}
	if err := core.CheckNewName("branch", opt.FirstBranch()); err != nil {
		return r, err
	}
	_, err = r.Transact(ctx, by, func(tx *core.Tx) error {
		tx.SetHead(graph.BranchRef(opt.FirstBranch()))
		return nil
	})
	return r, err
}

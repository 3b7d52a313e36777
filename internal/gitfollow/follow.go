// Package gitfollow has a memory follow the branch of a git work tree: which branch that is (Following), what of git's
// branches that were merged is to be merged too (Sync), what is left of those that are gone (Prune), the hook of git
// that calls it (Hook), and which commit of git there was at a time (Name). What git says is read by package gitdir.
package gitfollow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitrun"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/ops"
)

// WorkTree returns the git work tree that the memory in a directory follows: the one that the working directory is in,
// where its branches are those of the one that the repository is in, and else that.
func WorkTree(dir, at string) (*gitdir.Tree, error) {
	opt := gitdir.Options{Git: askGit, PatchIDs: patchIDs}
	own, err := gitdir.Find(dir, opt)
	if err != nil {
		return nil, err
	}
	here, err := gitdir.Find(at, opt)
	if err == nil && here.Dir != own.Dir && here.Same(own) {
		return here, nil
	}
	return own, nil
}

// Following returns what HEAD of a work tree is for the memory.
func Following(ctx context.Context, tree *gitdir.Tree) (*operation.Following, error) {
	head, err := tree.Head(ctx)
	if err != nil {
		return nil, err
	}
	f := &operation.Following{Work: tree.Work, Git: head.Branch, Doing: head.Doing}
	if head.Detached {
		at := strings.TrimPrefix(head.At, "refs/")
		f.ReadOnly = fmt.Sprintf("HEAD of %s is on no git branch, but at %.12s", tree.Work, at)
		if head.At != at {
			f.ReadOnly = fmt.Sprintf("HEAD of %s is on no git branch, but at %s", tree.Work, at)
		}
	}
	if head.Branch == "" {
		return f, nil
	}
	if f.Branch, err = gitdir.Branch(head.Branch); err != nil {
		return nil, err
	}
	for _, from := range head.From {
		if name, err := gitdir.Branch(from); err == nil {
			f.From = append(f.From, name)
		}
	}
	return f, nil
}

// MainRepo returns the directory of the repository that is about the linked git work tree around a directory: that of
// the main work tree, if it follows git. found is the nearest repository, "" for none.
func MainRepo(found, at string, follows func(dir string) bool) string {
	if _, err := os.Stat(filepath.Join(found, ".git")); found != "" && err == nil {
		return found
	}
	tree, err := gitdir.Find(at, gitdir.Options{})
	if err != nil || !tree.Linked() || tree.Main() == "" || found != "" && within(found, tree.Work) {
		return found
	}
	dir, err := core.Find(tree.Main())
	if err != nil || dir == found || !follows(dir) {
		return found
	}
	return dir
}

// within reports whether a path is a directory or in it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// askGit runs git in a work tree and returns what it prints. ok is false where it ends with exit code 1.
func askGit(ctx context.Context, dir string, args ...string) (out string, ok bool, err error) {
	printed := &gitrun.Buffer{Limit: gitdir.MaxOutput}
	err = gitrun.Run(treeGit(ctx, dir, args...), args[0], printed)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && ctx.Err() == nil {
		return printed.String(), false, nil
	}
	return printed.String(), err == nil, gitrun.Interrupted(ctx, err)
}

// treeGit returns git for a work tree, which reads and asks nobody.
func treeGit(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := gitrun.Program(ctx, append([]string{"-C", dir, "--no-pager", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
	return cmd
}

// patchIDs runs git and returns what 'git patch-id' prints of that.
func patchIDs(ctx context.Context, dir string, args ...string) (string, error) {
	from, to := treeGit(ctx, dir, args...), treeGit(ctx, dir, "patch-id", "--stable")
	pipe, err := from.StdoutPipe()
	if err != nil {
		return "", err
	}
	printed := &gitrun.Buffer{Limit: gitdir.MaxOutput}
	to.Stdin, to.Stdout = pipe, printed
	if err := to.Start(); err != nil {
		return "", fmt.Errorf("git patch-id: %w", err)
	}
	err = from.Run()
	err = errors.Join(err, to.Wait(), printed.Err())
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return printed.String(), nil
}

// Name writes into an answer at which commit HEAD of the git work tree was when commits of the memory were made.
func Name(ctx context.Context, tree *gitdir.Tree, answer any) error {
	at := func(t graph.Time) (ops.Text, error) {
		id, err := tree.CommitAt(ctx, t.Std().Unix())
		return ops.Text(id), err
	}
	switch a := answer.(type) {
	case *ops.Commit:
		id, err := at(a.Time)
		a.Git = &id
		return err
	case *ops.Blamed:
		for i := range a.Fields {
			id, err := at(a.Fields[i].Time)
			if err != nil {
				return err
			}
			a.Fields[i].Git = &id
		}
	}
	return nil
}

// Package gitfollow makes a memory follow the branch of a git work tree: it determines the branch (Following) and
// its origins (Origins), merges the memory of merged git branches (Sync), removes that of deleted ones (Prune),
// installs the git hook that does this (Hook), and names git commits by time (Name). Package gitdir reads git.
package gitfollow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// WorkTree returns the git work tree that the memory in a directory follows: the one containing the working
// directory, if it shares branches with the repository's work tree, otherwise the latter.
func WorkTree(dir, at string) (*gitdir.Tree, error) {
	own, err := gitdir.Find(dir)
	if err != nil {
		return nil, err
	}
	here, err := gitdir.Find(at)
	if err == nil && here.Dir != own.Dir && here.Same(own) {
		return here, nil
	}
	return own, nil
}

// maxFrom bounds how many branches Origins visits.
const maxFrom = 16

// Following returns the memory's view of a work tree's HEAD. If git is needed for that and fails, it is Unknown.
func Following(ctx context.Context, tree *gitdir.Tree) (*operation.Following, error) {
	head, err := tree.Head(ctx)
	if head == nil || ctx.Err() != nil {
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
	if err != nil {
		f.Unknown, f.ReadOnly = true, err.Error()
		return f, nil
	}
	if head.Branch == "" {
		return f, nil
	}
	f.Branch, err = gitdir.Branch(head.Branch)
	return f, err
}

// Origins returns f with the chain of branches from which its branch was made, up to one that the memory has. It runs
// git only if the memory has no branch of that name yet; if git then fails, the result is Unknown. f may be nil.
func Origins(ctx context.Context, r *core.Repo, f *operation.Following) (*operation.Following, error) {
	if f == nil || f.Branch == "" || f.Unknown {
		return f, nil
	}
	out := *f
	out.From = nil
	var tree *gitdir.Tree
	for git, name := f.Git, f.Branch; len(out.From) <= maxFrom; {
		exists, _, err := r.Followed(core.Follow(ctx, &core.Following{Branch: name}))
		if exists || err != nil {
			return &out, err
		}
		if tree == nil {
			tree, err = gitdir.Find(f.Work)
		}
		if err == nil {
			git, err = tree.Origin(ctx, git)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			out.Unknown, out.ReadOnly = true, err.Error()
			return &out, nil
		case git == "":
			return &out, nil
		}
		if name, err = gitdir.Branch(git); err != nil || slices.Contains(out.From, name) {
			return &out, nil
		}
		out.From = append(out.From, name)
	}
	return &out, nil
}

// MainRepo returns the directory of the repository for the linked git work tree around a directory: that of the
// main work tree, if it follows git or there is no other. found is the nearest repository, "" for none. Without a setting
// of the main work tree's repository its git directory must name the linked work tree too: a file anywhere can name a
// git directory.
func MainRepo(found, at string, follows func(dir string) bool) string {
	if _, err := os.Stat(filepath.Join(found, ".git")); found != "" && err == nil {
		return found
	}
	tree, err := gitdir.Find(at)
	if err != nil || !tree.Linked() || tree.Main() == "" || found != "" && within(found, tree.Work) {
		return found
	}
	dir, err := core.Find(tree.Main())
	if err != nil || dir == found || !follows(dir) && (found != "" || !tree.Mutual()) {
		return found
	}
	return dir
}

// within reports whether a path is dir or inside it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Name adds to an answer the commit of the work tree's HEAD at the time of each commit of the memory.
func Name(ctx context.Context, tree *gitdir.Tree, answer any) error {
	at := func(t graph.Time) (verb.Text, error) {
		id, err := tree.CommitAt(ctx, t.Std().Unix())
		return verb.Text(id), err
	}
	switch a := answer.(type) {
	case *branching.Commit:
		id, err := at(a.Time)
		a.Git = &id
		return err
	case *branching.Blamed:
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

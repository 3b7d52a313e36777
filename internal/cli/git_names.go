package cli

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/ops"
)

// namesGit reports whether a request asks which commits of git there were at the time.
func namesGit(req any) bool {
	q, ok := req.(interface{ NamesGit() bool })
	return ok && q.NamesGit()
}

// nameGit writes into an answer at which commit HEAD of the git work tree was when commits of the memory were made.
func (c *cli) nameGit(ctx context.Context, answer any) error {
	if c.gitTree == nil {
		tree, err := c.workTree()
		if errors.Is(err, gitdir.ErrNone) {
			return hint(usagef("--git: %w", err), "run it in a git work tree, or leave out --git")
		}
		if err != nil {
			return err
		}
		c.gitTree = tree
	}
	return gitfollow.Name(ctx, c.gitTree, answer)
}

// shortGit is how a commit of git is shown, "-" for none.
func shortGit(id *ops.Text) string {
	if *id == "" {
		return "-"
	}
	return string((*id)[:min(len(*id), 12)])
}

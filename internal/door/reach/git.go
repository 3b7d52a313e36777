package reach

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
)

// namesGit reports whether a request asks which commits of git there were at the time.
func namesGit(req any) bool {
	q, ok := req.(interface{ NamesGit() bool })
	return ok && q.NamesGit()
}

// nameGit writes into an answer at which commit HEAD of the git work tree was when commits of the memory were made.
func nameGit(ctx context.Context, c *line.Line, answer any) error {
	if c.GitTree == nil {
		tree, err := c.WorkTree()
		if errors.Is(err, gitdir.ErrNone) {
			return line.Hint(line.Usagef("--git: %w", err), "run it in a git work tree, or leave out --git")
		}
		if err != nil {
			return err
		}
		c.GitTree = tree
	}
	return gitfollow.Name(ctx, c.GitTree, answer)
}

package line

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
)

// Follow sets HEAD for the caller from the git work tree, if the memory follows git. Only the first call of a command
// does anything. Without a work tree HEAD is not changed.
func (c *Line) Follow() error {
	if c.followed || c.Program != "" || c.Global.User {
		return nil
	}
	c.followed = true
	on, err := c.Configured(settings.FollowKey)
	if on != "true" || err != nil {
		return err
	}
	ctx := c.Doing.Ctx
	tree, err := c.WorkTree()
	if errors.Is(err, gitdir.ErrNone) || err == nil && tree == nil {
		return nil
	}
	if err == nil {
		c.By.Following, err = gitfollow.Following(ctx, tree)
	}
	if err != nil {
		return Hint(fmt.Errorf("follow git: %w", err), "repair what git says, end it with 'mnem git follow --remove', or set "+
			"%s=false for one command", settings.FollowVariable)
	}
	return nil
}

// WorkTree returns the git work tree that the memory follows: the one around the working directory, if it shares its
// branches with the one around the repository, and otherwise the latter.
func (c *Line) WorkTree() (*gitdir.Tree, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	return gitfollow.WorkTree(dir, c.App.Dir)
}

// mainRepo returns the directory of the repository that is about a linked git work tree: that of the main work
// tree, if it follows git. found is the nearest repository, "" for none.
func (c *Line) mainRepo(found string) string {
	return gitfollow.MainRepo(found, c.App.Dir, func(dir string) bool {
		list, err := settings.Read(filepath.Join(dir, core.DirName, settings.File))
		on, _ := settings.Find(list, settings.FollowKey)
		return err == nil && FirstOf(c.Env(settings.FollowVariable), on) == "true"
	})
}

// OfMain reports whether a repository that the user did not name belongs to the main work tree of a linked one.
func (c *Line) OfMain(dir string) bool {
	if c.Global.User || FirstOf(c.Global.Repo, c.Env("MNEM_REPO")) != "" {
		return false
	}
	rel, err := filepath.Rel(dir, c.App.Dir)
	return err == nil && !filepath.IsLocal(rel)
}

// followedTask returns the default task of the caller: the branch that HEAD follows, "" for none.
func (c *Line) followedTask() string {
	if f := c.By.Following; f != nil && len(f.Branch) <= graph.MaxActor {
		return f.Branch
	}
	return ""
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitrun"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

const (
	followKey = "git.follow"
	followEnv = "MNEM_GIT_FOLLOW"
)

// follow finds what HEAD is for the caller, where the memory follows the git work tree: once for a command. Where
// no work tree is around the repository it follows none.
func (c *cli) follow() error {
	if c.followed || c.program != "" || c.global.user {
		return nil
	}
	c.followed = true
	on, err := c.configured(followKey)
	if on != "true" || err != nil {
		return err
	}
	ctx := c.doing.ctx
	tree, err := c.workTree()
	if errors.Is(err, gitdir.ErrNone) || err == nil && tree == nil {
		return nil
	}
	if err == nil {
		c.by.Following, err = followingOf(ctx, tree)
	}
	if err != nil {
		return hint(fmt.Errorf("follow git: %w", err), "repair what git says, end it with 'mnem git unfollow', or set "+
			"%s=false for one command", followEnv)
	}
	return nil
}

// workTree returns the git work tree that the memory follows: the one that the working directory is in, where its
// branches are those of the one that the repository is in, and else that.
func (c *cli) workTree() (*gitdir.Tree, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	opt := gitdir.Options{Git: askGit, PatchIDs: patchIDs}
	own, err := gitdir.Find(dir, opt)
	if err != nil {
		return nil, err
	}
	here, err := gitdir.Find(c.app.Dir, opt)
	if err == nil && here.Dir != own.Dir && here.Same(own) {
		return here, nil
	}
	return own, nil
}

// followingOf returns what HEAD of a work tree is for the memory.
func followingOf(ctx context.Context, tree *gitdir.Tree) (*operation.Following, error) {
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

// followThere refuses to have a process run the verb that does not know that HEAD may be followed: it would write
// to another branch.
func (c *cli) followThere(client *owner.Client) error {
	as, pid := client.Owner()
	if c.by.Following == nil || as.Newest >= owner.Following {
		return nil
	}
	return hint(fmt.Errorf("%w: process %d has it open, and mnem %s does not follow git", store.ErrBusy, pid, as.Name),
		"stop process %d and start it anew, so that it is the same version", pid)
}

// mainRepo returns the directory of the repository that is about a linked git work tree: that of the main work
// tree, if it follows git. found is the nearest repository, "" for none.
func (c *cli) mainRepo(found string) string {
	if _, err := os.Stat(filepath.Join(found, ".git")); found != "" && err == nil {
		return found
	}
	tree, err := gitdir.Find(c.app.Dir, gitdir.Options{})
	if err != nil || !tree.Linked() || tree.Main() == "" || found != "" && within(found, tree.Work) {
		return found
	}
	dir, err := repo.Find(tree.Main())
	if err != nil || dir == found {
		return found
	}
	list, err := readConfig(filepath.Join(dir, repo.DirName, configFile))
	if on, _ := find(list, followKey); err != nil || firstOf(c.env(followEnv), on) != "true" {
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

// followedTask is what the caller works on where nothing says so: the branch that HEAD follows.
func (c *cli) followedTask() string {
	if f := c.by.Following; f != nil && len(f.Branch) <= graph.MaxActor {
		return f.Branch
	}
	return ""
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

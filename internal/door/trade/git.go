package trade

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/setup"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
)

// followJSON names the branch that the memory follows: following is null if it follows nothing.
type followJSON struct {
	Following *branching.Followed `json:"following"`
	Head      ipld.CID            `json:"head" shape:"null"` // the newest commit of the memory there
	Hook      bool                `json:"hook"`              // whether git syncs after each merge
	// Work is the git work tree that would be followed.
	Work verb.Text `json:"work"`
}

type (
	// gitBranches are branches of git.
	gitBranches struct {
		Names []string `op:"branches,arg"`
	}
	gitSyncRequest struct {
		gitBranches
		verb.Actor
		mergeRule
		DryRun bool `op:"" doc:"say what would be merged, and change nothing"`
	}
	gitPruneRequest struct {
		gitBranches
		verb.Actor
		Force bool `op:",short=f" doc:"also those whose memory nothing else has"`
	}
	gitFollowRequest struct {
		Remove bool `op:"" doc:"stop following git"`
	}
	gitHookRequest struct {
		Remove bool `op:"" doc:"remove it, and put back what was there before"`
	}
)

// GitCommands are the commands of a memory that follows git.
func GitCommands() []*line.Bound {
	return []*line.Bound{
		reach.Local(verb.Spec{
			Command: "git follow", Right: verb.OwnRight, Usage: "[--remove]", Args: "", Title: "Follow the branch that git is on",
			Doc: "From now on, use the branch that the git work tree around the repository has checked out, for all\n" +
				"users of the repository: this is the setting git.follow. Linked work trees of 'git worktree add' use\n" +
				"this repository as well, each on its own branch. Nothing in git's directory changes.\n\n" +
				"--remove ends it: the memory returns to the branch that it was on before, or that 'mnem switch'\n" +
				"chooses. Branches that were made in between stay; 'mnem merge' merges them.",
			Example: "  mnem git follow\n  mnem git follow --remove",
		}, gitFollow),
		reach.Local(verb.Spec{
			Command: "git sync", Right: verb.OwnRight, Runs: []string{"merge", "branch"},
			Usage: "[GIT-BRANCH…]", Title: "Merge the memory of git branches that were merged",
			Doc: "Merge the memory of all git branches that were merged into the current one: by a merge, by rebasing,\n" +
				"or by squashing, if git can tell. A branch without commits of its own does not count. Removed\n" +
				"branches are found in git's log of HEAD. If git cannot tell, as for a squash whose commit was\n" +
				"edited, name the branch: then its memory is merged in any case.\n\n" +
				"Run it as often as you like; 'mnem git hook' makes git run it after each merge. If both sides\n" +
				"changed the same thing differently, --conflicts decides, as in 'mnem sync'.",
			Example: "  mnem git sync\n  mnem git sync feature/login --conflicts newest\n  mnem git sync --dry-run --json",
		}, gitSync),
		reach.Local(verb.Spec{
			Command: "git prune", Right: verb.OwnRight, Runs: []string{"branch"},
			Usage: "[GIT-BRANCH…]", Title: "Remove memory branches whose git branch is gone",
			Doc: "Remove the branches of the memory whose git branch no longer exists. A branch with memory that no\n" +
				"other branch or tag has is kept, unless --force is given. Only branches that git's logs of HEAD\n" +
				"know, or that you name, are removed; others are not git's. 'mnem undo' brings one back.",
			Example: "  mnem git prune\n  mnem git prune spike --force",
		}, gitPrune),
		reach.Local(verb.Spec{
			Command: "git hook", Right: verb.OwnRight, Title: "Run 'mnem git sync' after each git merge",
			Doc: "Make git run 'mnem git sync' after each merge and pull, by its hook post-merge. An existing hook\n" +
				"runs first, and its exit code counts; if mnem fails, git continues. Following needs no hook: this\n" +
				"only saves running 'mnem git sync' by hand. --remove restores what was there before.",
			Example: "  mnem git hook\n  mnem git hook --remove",
		}, gitHook),
	}
}

func gitFollow(ctx context.Context, c *line.Line, q *gitFollowRequest) error {
	if q.Remove {
		if err := setup.ConfigUnset(ctx, c, &setup.ConfigGetRequest{Key: settings.FollowKey}); err != nil {
			return err
		}
		c.Conf = nil
		return followed(ctx, c)
	}
	if _, err := c.RepoFile(""); err != nil {
		return err
	}
	tree, err := c.WorkTree()
	if err == nil {
		_, err = gitfollow.Following(ctx, tree)
	}
	if errors.Is(err, gitdir.ErrNone) {
		return line.Hint(fmt.Errorf("%w: %w", state.ErrInvalid, err), "make one with 'git init', or run this in one that holds the "+
			"repository")
	}
	if err != nil {
		return err
	}
	was, err := c.Configured(settings.FollowKey)
	if err == nil {
		err = setup.ConfigSet(ctx, c, &setup.ConfigSetRequest{Key: settings.FollowKey, Value: "true"})
	}
	if err != nil {
		return err
	}
	c.Conf = nil
	if err = followed(ctx, c); err != nil && was != "true" {
		err = line.FirstError(setup.ConfigUnset(ctx, c, &setup.ConfigGetRequest{Key: settings.FollowKey}), err)
	}
	return err
}

func followed(ctx context.Context, c *line.Line) error {
	dir, err := c.Dir()
	if err != nil {
		return err
	}
	out := &followJSON{}
	tree, err := c.WorkTree()
	switch {
	case errors.Is(err, gitdir.ErrNone):
	case err != nil:
		return err
	default:
		out.Work = verb.Text(tree.Work)
		hook, _ := gitfollow.HookOf(tree) // of one that cannot be read nothing is said
		out.Hook = hook.Installed
	}
	req := &branching.StatusRequest{}
	err = reach.AskAside(ctx, reach.Aside(ctx, c, dir), &branching.StatusVerb.Spec, req, func(answer any) error {
		st := answer.(*branching.Status)
		out.Following, out.Head = st.Following, st.Head
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return c.OpenHint(err)
	}
	if err != nil {
		return err
	}
	if c.InJSON {
		return c.PrintJSON(out)
	}
	if out.Following == nil {
		where := "no git work tree is around " + line.OneLine(filepath.Join(dir, core.DirName))
		if out.Work != "" {
			where = "'mnem git follow' has it follow " + line.OneLine(string(out.Work))
		}
		return c.Printf("the memory follows no git branch; %s\n", where)
	}
	_ = answers.Followed(&c.Console, out.Following)
	if out.Hook {
		c.Put("git runs 'mnem git sync' after each merge\n")
	}
	return c.Failed()
}

func gitSync(ctx context.Context, c *line.Line, q *gitSyncRequest) error {
	if err := settle(c, &q.mergeRule); err != nil {
		return err
	}
	tree, here, err := following(c)
	if err != nil {
		return err
	}
	out, err := gitfollow.Sync(ctx, tree, c.By.Following, here.Asker, q.Conflicts, q.Names, q.DryRun)
	if out.Branch != "" {
		err = line.FirstError(show.Answer(&c.Console, out, answers.GitSync), err)
	}
	return err
}

// following returns the work tree that is followed, and the repository.
func following(c *line.Line) (*gitdir.Tree, *trade.Local, error) {
	here, err := reach.HereSide(c, false)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Follow(); err != nil {
		return nil, nil, err
	}
	if c.By.Following == nil {
		return nil, nil, line.Hint(fmt.Errorf("%w: the memory follows no git branch", state.ErrInvalid), "run 'mnem git follow' first")
	}
	tree, err := c.WorkTree()
	return tree, here, err
}

func gitPrune(ctx context.Context, c *line.Line, q *gitPruneRequest) error {
	tree, here, err := following(c)
	if err != nil {
		return err
	}
	out, err := gitfollow.Prune(ctx, tree, here.Asker, q.Names, q.Force)
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, out, answers.GitPrune)
}

func gitHook(ctx context.Context, c *line.Line, q *gitHookRequest) error {
	if _, err := c.RepoFile(""); err != nil {
		return err
	}
	tree, err := c.WorkTree()
	if errors.Is(err, gitdir.ErrNone) {
		return line.Hint(fmt.Errorf("%w: %w", state.ErrInvalid, err), "make one with 'git init'")
	}
	if err != nil {
		return err
	}
	out, err := gitfollow.HookOf(tree)
	if err == nil && q.Remove {
		err = out.Remove()
	} else if err == nil {
		err = out.Install(ctx, tree, line.FirstOf(c.App.Executable, "mnem"))
	}
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, out, answers.GitHook)
}

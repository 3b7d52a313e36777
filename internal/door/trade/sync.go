// Package trade is the commands that exchange history with other repositories and follow a git work tree.
package trade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/setup"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
)

type (
	// takesSigned is of commands that take in commits.
	takesSigned struct {
		Signed bool `op:"require-signed" doc:"refuse commits that no key you trust has signed" note:" (MNEM_REQUIRE_SIGNED; config: require-signed)"`
	}
	// withSessions is of commands that may bring sessions too.
	withSessions struct {
		Sessions bool `op:"" doc:"sessions with their receipts too, also the commits that these name"`
	}
	// mergeRule is of commands that merge.
	mergeRule struct {
		Conflicts string `op:"" enum:"stop newest ours theirs" doc:"what to do where both sides changed one thing: {RULE} is stop, newest, ours, theirs" note:" (MNEM_CONFLICTS; config: sync.conflicts; default: stop)"`
		verb.Params
	}
	syncRequest struct {
		Remote string `op:",arg"`
		Branch string `op:",short=b" complete:"branch" doc:"the {BRANCH}, here and there" note:" (MNEM_BRANCH; default: the one HEAD is on)"`
		verb.Actor
		mergeRule
		takesSigned
		withSessions
		All    bool `op:"" doc:"sync every branch that is here"`
		Tags   bool `op:"" doc:"push tags that the remote lacks"`
		DryRun bool `op:"" doc:"say what would be fetched and pushed now, and change nothing"`

		Auto string `op:"" not:"dry-run branch require-signed" doc:"sync automatically: {WHEN} is on, off, or how often a server syncs besides after writes, as 10m (on: 5m); run is for the background process"`
	}
	fetchRequest struct {
		Remote string `op:",arg"`
		Prune  bool   `op:"" doc:"forget branches and tags that the remote has no more"`
		DryRun bool   `op:"" doc:"say which refs would change and change none"`
		verb.Actor
		takesSigned
		withSessions
	}
	pushRequest struct {
		Remote     string   `op:",arg"`
		Names      []string `op:",arg"`
		All        bool     `op:"" doc:"push every branch"`
		Tags       bool     `op:"" doc:"push every tag"`
		Delete     bool     `op:"" not:"sessions all tags force" doc:"remove the branches and tags from the remote"`
		Force      bool     `op:"force" doc:"replace what is there, if it is where the last fetch found it"`
		Redactions bool     `op:"" doc:"erase there for good what was purged here, in its branches and tags"`
		DryRun     bool     `op:"" not:"redactions" doc:"say which refs would change and change none"`
		verb.Actor
		withSessions
	}
)

// TradeCommands bring memories to other repositories, and back.
func TradeCommands() []*line.Bound {
	return []*line.Bound{
		reach.Local(verb.Spec{
			Command: "fetch", Right: verb.OwnRight, Runs: []string{"pack_take"},
			Usage: "[REMOTE]", Group: line.GroupTrade, Title: "Download branches and tags of another repository",
			Doc: "Download the branches and tags of another repository, by default of origin. Its branch main becomes\n" +
				"refs/remotes/REMOTE/heads/main, which can be read with --at and merged; no branch of this repository\n" +
				"moves: 'mnem merge REMOTE/main' merges it. A tag that is missing here is created; a tag that exists\n" +
				"here stays where it is.\n\n" +
				"Each block is verified before a ref moves, all or nothing. An interrupted fetch continues where it\n" +
				"stopped. --prune forgets refs that the other repository no longer has. Only new bytes travel.\n" +
				"--sessions fetches sessions too; if both sides continued one, the other side's version is kept as\n" +
				"NAME.CID.",
			Example: "  mnem fetch\n  mnem fetch origin --prune --sessions\n  mnem fetch --dry-run", Answers: []any{remote.Fetched{}},
		}, fetch),
		reach.Local(verb.Spec{
			Command: "push", Right: verb.OwnRight, Runs: []string{"pack_take"},
			Usage: "[REMOTE] [BRANCH|TAG…]", Group: line.GroupTrade, Title: "Upload branches and tags to another repository",
			Doc: "Upload branches and tags to another repository, by default the current branch to origin: all or\n" +
				"nothing. A branch only moves forward there, so nothing is lost: if it has commits that the branch\n" +
				"here lacks, the push is refused with exit code 5, and 'mnem sync' fetches, merges and pushes. A tag\n" +
				"stays where it is.\n\n" +
				"--force replaces what is there, if it is where the last fetch or push found it. --delete\n" +
				"removes branches and tags there.\n\n" +
				"--redactions erases there what was purged here. A server needs a token of scope admin for that. It\n" +
				"also learns what was purged here, when, by whom and why.",
			Example: "  mnem push\n  mnem push origin draft v1\n  mnem push --all --tags\n" +
				"  mnem push origin draft --delete\n  mnem push --force", Answers: []any{remote.Pushed{}},
		}, push),
		reach.Local(verb.Spec{
			Command: "sync", Right: verb.OwnRight, Runs: []string{"pack_take", "merge"},
			Usage: "[REMOTE]", Group: line.GroupTrade, Title: "Fetch, merge and push until both sides are equal",
			Doc: "Bring the current branch and that of another repository, by default origin, to the same state:\n" +
				"fetch, merge and push, and again if someone else pushed in between. No commit of either side is\n" +
				"lost. Programs and timers can run it as often as they like.\n\n" +
				"If both sides changed the same thing differently, --conflicts decides: stop leaves the merge in\n" +
				"progress, with exit code 5, until 'mnem merge --resolve' and --continue; newest takes the later\n" +
				"change; ours takes this side, theirs the other. The answer lists each choice. Both versions stay in\n" +
				"the history.\n\n" +
				"With --sessions sessions travel too. If both sides continued one, each side keeps its own version\n" +
				"under the name, and the other's as NAME.CID.\n\n" +
				"With --auto on, a background process syncs 2 seconds after the last write, when a server starts, and\n" +
				"every 5 minutes while one runs, with the --conflicts, --all, --tags and --sessions given here. It\n" +
				"delays no command, and ends by itself. If the other side cannot be reached, it tries again at the\n" +
				"next occasion; 'mnem status' and 'mnem doctor' say when it last worked. Conflicts are listed by\n" +
				"'mnem review'. Once they are resolved, the next sync continues the merge.",
			Example: "  mnem sync\n  mnem sync --auto on\n  mnem sync origin --conflicts newest --all --tags\n  mnem sync --dry-run --json", Answers: []any{trade.Synced{}, autoJSON{}},
		}, sync),
		reach.Local(verb.Spec{
			Command: "clone", Right: verb.NoRight,
			Usage: "URL|FILE [DIR]", Group: line.GroupTrade, Title: "Clone another repository",
			Doc: "Make a repository in DIR/.mnem with what another one has: its branches and tags with their\n" +
				"histories. DIR is by default a directory in this one with the last name of URL. The other\n" +
				"repository is the remote origin of the new one; the branch that its HEAD is on is made here, and\n" +
				"the other branches are refs/remotes/origin/heads/…. Everything is verified before it is kept.\n\n" +
				"Of a FILE of 'mnem export --all' every branch is made here, and there is no remote.\n\n" +
				"Indexes are built here when they are needed. What stays behind: the configuration, tokens, policy,\n" +
				"stages, the log of operations, and sessions unless --sessions asks for them.",
			Example: "  mnem clone memory notes\n  mnem clone memory.mnem restored\n  mnem clone memory/.mnem laptop", Answers: []any{trade.Cloned{}},
		}, cloneHere),
	}
}

func fetch(ctx context.Context, c *line.Line, q *fetchRequest) error {
	t, err := reach.TransferWith(ctx, c, q.Remote, q.Signed, q.DryRun)
	if err != nil {
		return err
	}
	defer t.End()
	res, err := t.WithSessions(q.Sessions).Fetch(ctx, q.Prune)
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, res, answers.Fetch)
}

func push(ctx context.Context, c *line.Line, q *pushRequest) error {
	if q.Delete && len(q.Names) == 0 {
		return line.Usagef("name what to remove: push REMOTE BRANCH --delete")
	}
	t, err := reach.TransferWith(ctx, c, q.Remote, false, q.DryRun)
	if err != nil {
		return err
	}
	defer t.End()
	opt := remote.PushOptions{Force: q.Force, Redactions: q.Redactions}
	if opt.Refs, err = t.Refs(ctx, q.Names, q.All, q.Tags); err != nil {
		return err
	}
	if q.Delete {
		opt.Refs, opt.Remove = nil, opt.Refs
	}
	res, err := t.WithSessions(q.Sessions).Push(ctx, opt)
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, res, answers.Push)
}

func sync(ctx context.Context, c *line.Line, q *syncRequest) error {
	if q.Given("auto") {
		return autoSync(ctx, c, q)
	}
	if err := settle(c, &q.mergeRule); err != nil {
		return err
	}
	if q.All && q.Branch != "" {
		return line.Usagef("--all and --branch exclude each other")
	}
	t, err := reach.TransferWith(ctx, c, q.Remote, q.Signed, q.DryRun)
	if err != nil {
		return err
	}
	defer t.End()
	names, err := branchesToSync(ctx, c, t, q.Branch, q.All)
	if err != nil {
		return err
	}
	res, err := t.WithSessions(q.Sessions).Sync(ctx, trade.SyncOptions{
		Branches: names, Conflicts: q.Conflicts, Tags: q.Tags, Signed: q.Signed, DryRun: q.DryRun,
	})
	if res == nil || err != nil && !res.Did() {
		return err
	}
	print := func(to *show.Console, s *trade.Synced) error { return answers.Sync(to, s, err != nil) }
	return line.FirstError(show.Answer(&c.Console, res, print), err)
}

// settle takes from the configuration what no flag says of conflicts, and refuses what is no rule.
func settle(c *line.Line, q *mergeRule) (err error) {
	if !q.Given("conflicts") {
		if q.Conflicts, err = c.Configured(settings.ConflictsKey); err != nil {
			return err
		}
	}
	if err := branching.CheckRule(q.Conflicts); err != nil {
		return line.Usagef("--conflicts: %w", err)
	}
	return nil
}

func branchesToSync(ctx context.Context, c *line.Line, t *trade.Transfer, branch string, all bool) ([]string, error) {
	if err := c.Follow(); err != nil {
		return nil, err
	}
	followed := ""
	if on := c.By.Following; on != nil {
		followed = on.Branch
		if err := verb.MayWrite(on); err != nil && branch == "" && c.By.Branch == "" && !all {
			return nil, err
		}
	}
	if name := line.FirstOf(branch, c.By.Branch, followed); name != "" && !all {
		return []string{name}, nil
	}
	return t.BranchesHere(ctx, all)
}

type cloneRequest struct {
	From string `op:",arg"`
	Dir  string `op:",arg"`
	verb.Actor
	takesSigned
	withSessions
	encrypts
}

func cloneHere(ctx context.Context, c *line.Line, q *cloneRequest) error {
	res, err := clone(ctx, c, q)
	if err != nil {
		return err
	}
	answers.RemarkLearned(&c.Console, place.DefaultName, res.Learned)
	if !res.Commit.Defined() {
		return c.Say(res, "cloned into %s: nothing is there yet\n", line.OneLine(res.Path))
	}
	return c.Say(res, "cloned into %s: branch %s at %s, %s, %s\n", line.OneLine(res.Path), c.Paint(show.Cyan, line.OneLine(res.Branch)),
		c.Paint(show.Yellow, show.ShortCID(res.Commit)), line.Plural(res.Refs, "ref"), plain.Bytes(res.Bytes))
}

func clone(ctx context.Context, c *line.Line, q *cloneRequest) (res *trade.Cloned, err error) {
	if c.Global.Repo != "" || c.Global.User {
		return nil, line.Usagef("--repo and --global do not go with clone: name the directory after the URL")
	}
	from := place.Remote{Name: place.DefaultName}
	if err := q.to(c, &from); err != nil {
		return nil, err
	}
	if from.URL, err = place.Kept(c.App.Dir, q.From); err != nil {
		return nil, err
	}
	dir := q.Dir
	if dir == "" {
		if dir, err = cloneDir(from.URL); err != nil {
			return nil, err
		}
	}
	dir = c.Absolute(dir)
	path := filepath.Join(dir, core.DirName)
	if _, err := os.Lstat(path); err == nil {
		return nil, setup.RepoExists(fs.ErrExist, path)
	}
	if c.Global.Author, _, err = setup.FirstAuthor(c); err != nil {
		return nil, err
	}
	if info, err := os.Stat(from.URL); err == nil && !info.IsDir() {
		if err := regular.Check(q.From, info); err != nil {
			return nil, err
		}
		return cloneInto(ctx, c, dir, core.DefaultBranch, q.Signed, func(ctx context.Context, here *trade.Local) (*trade.Cloned, error) {
			return trade.CloneFile(ctx, here, from.URL)
		})
	}
	there, err := trade.Connect(ctx, reach.AskHost(c), from, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = there.Close() }() // all was said
	st, err := there.Look(ctx, remote.Question{})
	if err != nil {
		return nil, err
	}
	if readers := trade.EncryptedFor(there); readers != nil {
		from.Encrypt = readers
	}
	branch := core.DefaultBranch
	if name, ok := st.Head.Branch(); ok {
		if err := graph.ValidateRef(st.Head); err != nil {
			return nil, fmt.Errorf("%w: HEAD there: %w", state.ErrInvalid, err)
		}
		branch = name
	}
	return cloneInto(ctx, c, dir, branch, q.Signed, func(ctx context.Context, here *trade.Local) (*trade.Cloned, error) {
		err := reach.EditRemotes(ctx, c, func([]place.Remote) ([]place.Remote, error) { return []place.Remote{from}, nil })
		if err != nil {
			return nil, err
		}
		return trade.Between(reach.AskHost(c), here, from, there, false).WithSessions(q.Sessions).Clone(ctx, branch)
	})
}

// cloneInto makes a repository and has it filled. Nothing half written stays.
func cloneInto(
	ctx context.Context, c *line.Line, dir, branch string, signed bool,
	fill func(ctx context.Context, here *trade.Local) (*trade.Cloned, error),
) (res *trade.Cloned, err error) {
	_, statErr := os.Lstat(dir)
	if err := setup.MakeRepo(ctx, c, dir, branch); err != nil {
		return nil, err
	}
	c.Global.Repo, c.Conf = dir, nil
	here, err := reach.HereSide(c, signed)
	if err == nil {
		reach.KeepOpen(c, here.Dir)
		res, err = fill(ctx, here)
	}
	if err != nil {
		err = errors.Join(err, c.CloseKept(), os.RemoveAll(filepath.Join(dir, core.DirName)))
		if errors.Is(statErr, fs.ErrNotExist) {
			_ = os.Remove(dir) // unless something else is in it
		}
		return nil, err
	}
	return res, nil
}

// cloneDir returns the directory that a clone of a URL is made in.
func cloneDir(at string) (string, error) {
	u, err := place.ParseURL(at)
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(filepath.ToSlash(u.Path), "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/"+core.DirName), ".git")
	name := path[strings.LastIndexByte(path, '/')+1:]
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".mnem"), ".car")
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, ":\\") {
		return "", line.Usagef("name the directory of the clone after the URL")
	}
	return name, nil
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/internal/settings"
	"github.com/mnem-project/mnem/internal/show"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote/byverb"
	"github.com/mnem-project/mnem/remote/trade"
	"github.com/mnem-project/mnem/repo"
)

// bytes shows how many bytes have come or gone.
func (p *progress) bytes(what string, n int64) {
	if now := p.c.app.Now(); !now.Before(p.next) && p.visible() {
		p.next = now.Add(progressEvery)
		p.show(what + " " + plain.Bytes(n))
	}
}

func (c *cli) fetchCommand() *cobra.Command {
	var prune, dryRun, signed, sessions bool
	cmd := &cobra.Command{
		Use:     "fetch [REMOTE]",
		GroupID: groupTrade,
		Short:   "Download branches and tags of another repository",
		Long: "Bring the branches and tags of another repository here, by default of origin. Its branch main is\n" +
			"then refs/remotes/REMOTE/heads/main, which can be read with --at and merged; no branch of this\n" +
			"repository moves. A tag that is not here becomes one here too; one that is elsewhere here stays.\n\n" +
			"What comes is verified block by block before a ref moves, all or nothing. A fetch that was cut\n" +
			"goes on where it was. --prune forgets what the other repository has no more. The bytes follow\n" +
			"what is new. --sessions brings sessions too: one that both went on with is kept beside that of\n" +
			"this repository, as NAME.CID.",
		Example: "  mnem fetch\n  mnem fetch origin --prune --sessions\n  mnem fetch --dry-run",
		Args:    cobra.MaximumNArgs(1),
	}
	c.writeFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&prune, "prune", false, "forget branches and tags that the remote has no more")
	f.BoolVar(&dryRun, "dry-run", false, "say which refs would change and change none")
	c.requireFlag(cmd, &signed)
	sessionsFlag(cmd, &sessions)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), signed, dryRun)
		if err != nil {
			return err
		}
		defer t.End()
		res, err := t.WithSessions(sessions).Fetch(cmd.Context(), prune)
		if err != nil {
			return err
		}
		return show.Answer(&c.Console, res, c.Fetch)
	})
}

// sessionsFlag adds --sessions.
func sessionsFlag(cmd *cobra.Command, sessions *bool) {
	cmd.Flags().BoolVar(sessions, "sessions", false, "sessions with their receipts too, also the commits that these name")
}

// requireFlag adds --require-signed.
func (c *cli) requireFlag(cmd *cobra.Command, signed *bool) {
	cmd.Flags().BoolVar(signed, "require-signed", false, "refuse commits that no key you trust has signed "+
		"(MNEM_REQUIRE_SIGNED; config: require-signed)")
}

func (c *cli) pushCommand() *cobra.Command {
	var f trade.PushOptions
	var dryRun, sessions bool
	cmd := &cobra.Command{
		Use:     "push [REMOTE] [BRANCH|TAG…]",
		GroupID: groupTrade,
		Short:   "Upload branches and tags to another repository",
		Long: "Bring branches and tags to another repository, by default the current branch to origin: all or\n" +
			"nothing. A branch there moves forward only, so that nothing is lost: where it has commits that are\n" +
			"not in the branch here the push is refused with exit code 5, and 'mnem sync' fetches, merges and\n" +
			"pushes. A tag stays where it is.\n\n" +
			"--force-with-lease replaces what is there, if it is where the last fetch or push found it. --delete\n" +
			"removes branches and tags there.\n\n" +
			"What was purged here is erased there with --redactions, which a server allows a token of scope\n" +
			"admin alone. All that was ever purged here is told then: what, when, by whom and why.",
		Example: "  mnem push\n  mnem push origin draft v1\n  mnem push --all --tags\n" +
			"  mnem push origin draft --delete\n  mnem push --force-with-lease",
		Args: cobra.ArbitraryArgs,
	}
	c.writeFlags(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.All, "all", false, "push every branch")
	fl.BoolVar(&f.Tags, "tags", false, "push every tag")
	fl.BoolVar(&f.Remove, "delete", false, "remove the branches and tags from the remote")
	fl.BoolVar(&f.Force, "force-with-lease", false, "replace what is there, if it is where the last fetch found it")
	fl.BoolVar(&f.Redactions, "redactions", false, "erase there for good what was purged here, in its branches and tags")
	fl.BoolVar(&dryRun, "dry-run", false, "say which refs would change and change none")
	sessionsFlag(cmd, &sessions)
	cmd.MarkFlagsMutuallyExclusive("redactions", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("sessions", "delete")
	cmd.MarkFlagsMutuallyExclusive("all", "delete")
	cmd.MarkFlagsMutuallyExclusive("tags", "delete")
	cmd.MarkFlagsMutuallyExclusive("force-with-lease", "delete")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		names := args[min(1, len(args)):]
		if f.Remove && len(names) == 0 {
			return usagef("name what to remove: push REMOTE BRANCH --delete")
		}
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), false, dryRun)
		if err != nil {
			return err
		}
		defer t.End()
		refs, err := t.Refs(cmd.Context(), names, f)
		if err != nil {
			return err
		}
		res, err := t.WithSessions(sessions).Push(cmd.Context(), refs, f)
		if err != nil {
			return err
		}
		return show.Answer(&c.Console, res, c.Push)
	})
}

// syncFlags are the flags of sync and pull.
type syncFlags struct {
	trade.SyncOptions
	branch   string
	all      bool
	sessions bool
}

func (c *cli) syncCommand() *cobra.Command {
	f := syncFlags{}
	cmd := &cobra.Command{
		Use:     "sync [REMOTE]",
		GroupID: groupTrade,
		Short:   "Fetch, merge and push until both sides are equal",
		Long: "Bring the current branch and that of another repository, by default origin, to the same state:\n" +
			"fetch, merge, push, and again while others push meanwhile. No commit of either side is lost. It is\n" +
			"made for programs and timers as well: it can be run at any time, as often as wanted.\n\n" +
			"Where both sides changed one thing differently --conflicts decides: stop leaves the merge in\n" +
			"progress, exit code 5, to be resolved by 'mnem merge --resolve' and --continue before the next\n" +
			"sync; newest takes what was changed last; ours what is here; theirs what is there. Each choice is\n" +
			"in the answer, and can be taken back by a later commit: both versions are in the history.\n\n" +
			"With --sessions sessions come and go too. One that both sides went on with is kept twice, on each\n" +
			"side under its own name, and that of the other side beside it as NAME.CID.",
		Example: "  mnem sync\n  mnem sync origin --conflicts newest --all --tags\n  mnem sync --dry-run --json",
		Args:    cobra.MaximumNArgs(1),
	}
	c.writeFlags(cmd)
	c.mergeRuleFlags(cmd, &f)
	fl := cmd.Flags()
	fl.BoolVar(&f.all, "all", false, "sync every branch that is here")
	fl.BoolVar(&f.Tags, "tags", false, "push tags that the remote lacks")
	fl.BoolVar(&f.DryRun, "dry-run", false, "say what would be fetched and pushed now, and change nothing")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := c.checkSync(cmd, &f); err != nil {
			return err
		}
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), f.Signed, f.DryRun)
		if err != nil {
			return err
		}
		defer t.End()
		if f.Branches, err = c.branchesToSync(cmd.Context(), t, &f); err != nil {
			return err
		}
		res, err := t.WithSessions(f.sessions).Sync(cmd.Context(), f.SyncOptions)
		if res != nil {
			err = firstError(show.Answer(&c.Console, res, c.Sync), err)
		}
		return err
	})
}

// mergeRuleFlags adds the flags of commands that merge what came.
func (c *cli) mergeRuleFlags(cmd *cobra.Command, f *syncFlags) {
	c.conflictsFlag(cmd, f)
	fl := cmd.Flags()
	fl.StringVarP(&f.branch, "branch", "b", "", "the `BRANCH`, here and there (MNEM_BRANCH; default: the one HEAD is on)")
	c.requireFlag(cmd, &f.Signed)
	sessionsFlag(cmd, &f.sessions)
}

// conflictsFlag adds the flag that says what is done about conflicts.
func (c *cli) conflictsFlag(cmd *cobra.Command, f *syncFlags) {
	cmd.Flags().StringVar(&f.Conflicts, "conflicts", "", "what to do where both sides changed one thing: `RULE` is "+
		strings.Join(byverb.Rules(), ", ")+" (MNEM_CONFLICTS; config: sync.conflicts; default: stop)")
	c.completeBy(cmd, "conflicts", cobra.FixedCompletions(byverb.Rules(), cobra.ShellCompDirectiveNoFileComp))
}

// check refuses what makes no sense, and takes from the configuration what no flag says.
func (c *cli) checkSync(cmd *cobra.Command, f *syncFlags) (err error) {
	if !cmd.Flags().Changed("conflicts") {
		if f.Conflicts, err = c.configured(settings.ConflictsKey); err != nil {
			return err
		}
	}
	if err := byverb.CheckRule(f.Conflicts); err != nil {
		return usagef("--conflicts: %w", err)
	}
	if f.all && f.branch != "" {
		return usagef("--all and --branch exclude each other")
	}
	return nil
}

// branchesToSync returns the branches that are to be brought to the same state.
func (c *cli) branchesToSync(ctx context.Context, t *trade.Transfer, f *syncFlags) ([]string, error) {
	if err := c.follow(); err != nil {
		return nil, err
	}
	followed := ""
	if on := c.by.Following; on != nil {
		if followed = on.Branch; on.ReadOnly != "" && f.branch == "" && c.by.Branch == "" && !f.all {
			return nil, &repo.ReadOnlyError{Why: on.ReadOnly}
		}
	}
	if name := firstOf(f.branch, c.by.Branch, followed); name != "" && !f.all {
		return []string{name}, nil
	}
	return t.BranchesHere(ctx, f.all)
}

// pullJSON is what a pull did.
type pullJSON struct {
	Fetched *trade.Fetched `json:"fetched"`
	Branch  *trade.Branch  `json:"branch"`
}

func (c *cli) pullCommand() *cobra.Command {
	f := syncFlags{}
	cmd := &cobra.Command{
		Use:     "pull [REMOTE]",
		GroupID: groupTrade,
		Short:   "Fetch, and merge into the current branch",
		Long: "Fetch from another repository, by default origin, and merge what it has of the current branch.\n" +
			"Where the branch has nothing of its own it simply moves. --conflicts decides where both sides\n" +
			"changed one thing differently, as in 'mnem sync', which also pushes.",
		Example: "  mnem pull\n  mnem pull origin --conflicts theirs\n  mnem pull --branch draft",
		Args:    cobra.MaximumNArgs(1),
	}
	c.writeFlags(cmd)
	c.mergeRuleFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := c.checkSync(cmd, &f); err != nil {
			return err
		}
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), f.Signed, false)
		if err != nil {
			return err
		}
		defer t.End()
		names, err := c.branchesToSync(cmd.Context(), t, &f)
		if err != nil {
			return err
		}
		got, err := t.WithSessions(f.sessions).Fetch(cmd.Context(), false)
		if err != nil {
			return err
		}
		b := &trade.Branch{Branch: names[0]}
		err = t.Merge(cmd.Context(), b, f.SyncOptions)
		return firstError(show.Answer(&c.Console, &pullJSON{got, b}, c.printPull), err)
	})
}

func (c *cli) printPull(p *pullJSON) error {
	s := &trade.Synced{Remote: p.Fetched.Remote, Branches: ops.List[*trade.Branch]{p.Branch}, Clashing: p.Fetched.Clashing, Fetched: p.Fetched.Refs,
		Received: p.Fetched.Bytes, Skewed: p.Fetched.Skewed, Learned: p.Fetched.Learned}
	return c.Sync(s)
}

package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote/byverb"
	"github.com/mnem-project/mnem/remote/trade"
	"github.com/mnem-project/mnem/repo"
)

// syncFlags are the flags of sync and pull.
type syncFlags struct {
	trade.SyncOptions
	branch string
	all    bool
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
			"in the answer, and can be taken back by a later commit: both versions are in the history.",
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
		res, err := t.Sync(cmd.Context(), f.SyncOptions)
		if res != nil {
			err = firstError(c.printSync(res), err)
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
		if f.Conflicts, err = c.configured(conflictsKey); err != nil {
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

// conflictsKey is the setting of what a sync does about conflicts.
const (
	conflictsKey      = "sync.conflicts"
	conflictsVariable = "MNEM_CONFLICTS"
)

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

func (c *cli) printSync(s *trade.Synced) error {
	if c.global.json {
		return c.printJSON(s)
	}
	for _, b := range s.Branches {
		if err := c.printConflicts(b.Conflicts); err != nil {
			return err
		}
		var did []string
		if b.Forward {
			did = append(did, "moved to what "+line(s.Remote)+" had")
		}
		if b.Merged > 0 {
			did = append(did, plural(b.Merged, "merge"))
		}
		if b.Pushed {
			did = append(did, "pushed")
		}
		if len(did) == 0 {
			did = append(did, "no change")
		}
		at := "no commit yet"
		if b.Commit.Defined() {
			at = shortCID(b.Commit)
		}
		err := c.printf("[%s %s] %s\n", c.paint(styleCyan, line(b.Branch)), c.paint(styleYellow, at),
			strings.Join(did, ", "))
		if err != nil {
			return err
		}
	}
	for _, tag := range s.Clashing {
		c.remark("note: %s is elsewhere here and stays", line(string(tag)))
	}
	c.remarkLearned(s.Remote, s.Learned)
	c.remarkSkewed(s.Skewed)
	c.remarkUntold(s.Remote, s.Untold)
	if s.DryRun {
		if err := c.printRefMoves(append(slices.Clone(s.Fetched), s.Pushed...)); err != nil {
			return err
		}
	}
	return c.printf("%s: received %s, sent %s\n", line(s.Remote), bytesText(s.Received), bytesText(s.Sent))
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
		got, err := t.Fetch(cmd.Context(), false)
		if err != nil {
			return err
		}
		b := &trade.Branch{Branch: names[0]}
		err = t.Merge(cmd.Context(), b, f.SyncOptions)
		return firstError(c.printPull(&pullJSON{got, b}), err)
	})
}

func (c *cli) printPull(p *pullJSON) error {
	if c.global.json {
		return c.printJSON(p)
	}
	s := &trade.Synced{Remote: p.Fetched.Remote, Branches: ops.List[*trade.Branch]{p.Branch}, Clashing: p.Fetched.Clashing,
		Received: p.Fetched.Bytes, Skewed: p.Fetched.Skewed, Learned: p.Fetched.Learned}
	return c.printSync(s)
}

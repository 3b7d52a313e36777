package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
)

// What is done where both sides changed one thing.
const (
	conflictsStop   = "stop"
	conflictsOurs   = "ours"
	conflictsTheirs = "theirs"
	conflictsNewest = "newest"
)

func conflictRules() []string {
	return []string{conflictsStop, conflictsNewest, conflictsOurs, conflictsTheirs}
}

const (
	// syncRounds is how often a sync begins anew because the other side moved meanwhile: each time
	// somebody else's push came through. syncIdle is how often it does where nothing new came.
	syncRounds = 1000
	syncIdle   = 30
	// syncPause is the longest pause before that in the beginning; it doubles up to syncPauseMax.
	syncPause    = 10 * time.Millisecond
	syncPauseMax = 640 * time.Millisecond
)

// syncedBranch is what became of a branch.
type syncedBranch struct {
	Branch    string                 `json:"branch"`
	Commit    ipld.CID               `json:"commit" shape:"null"`
	Merged    int                    `json:"merged"`  // merge commits that were made
	Forward   bool                   `json:"forward"` // whether it moved to what the remote had
	Pushed    bool                   `json:"pushed"`
	Conflicts ops.List[ops.Conflict] `json:"conflicts"` // with what was taken
}

// syncJSON is what a sync did.
type syncJSON struct {
	Remote   string                  `json:"remote"`
	Rounds   int                     `json:"rounds"`
	Branches ops.List[*syncedBranch] `json:"branches"`
	Fetched  ops.List[ops.RefMoved]  `json:"fetched"`
	Clashing ops.List[graph.RefName] `json:"clashing"`
	Pushed   ops.List[ops.RefMoved]  `json:"pushed"` // refs of the remote
	Received int64                   `json:"received_bytes"`
	Skewed   ops.List[skewJSON]      `json:"clock_ahead"`
	learnedJSON
	Sent   int64 `json:"sent_bytes"`
	Untold bool  `json:"untold"` // as of push
	DryRun bool  `json:"dry_run"`
}

// syncFlags are the flags of sync and pull.
type syncFlags struct {
	conflicts         string
	branch            string
	all, tags, dryRun bool
	signed            bool
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
	fl.BoolVar(&f.tags, "tags", false, "push tags that the remote lacks")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be fetched and pushed now, and change nothing")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := c.checkSync(cmd, &f); err != nil {
			return err
		}
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), f.signed, f.dryRun)
		if err != nil {
			return err
		}
		defer t.end()
		res, err := t.sync(cmd.Context(), f)
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
	c.requireFlag(cmd, &f.signed)
}

// conflictsFlag adds the flag that says what is done about conflicts.
func (c *cli) conflictsFlag(cmd *cobra.Command, f *syncFlags) {
	cmd.Flags().StringVar(&f.conflicts, "conflicts", "", "what to do where both sides changed one thing: `RULE` is "+
		strings.Join(conflictRules(), ", ")+" (MNEM_CONFLICTS; config: sync.conflicts; default: stop)")
	c.completeBy(cmd, "conflicts", cobra.FixedCompletions(conflictRules(), cobra.ShellCompDirectiveNoFileComp))
}

// check refuses what makes no sense, and takes from the configuration what no flag says.
func (c *cli) checkSync(cmd *cobra.Command, f *syncFlags) (err error) {
	if !cmd.Flags().Changed("conflicts") {
		if f.conflicts, err = c.configured(conflictsKey); err != nil {
			return err
		}
	}
	if err := checkConflicts(f.conflicts); err != nil {
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

func checkConflicts(rule string) error {
	if !slices.Contains(conflictRules(), rule) {
		return fmt.Errorf("%w: %q is not one of %s", repo.ErrInvalid, rule, strings.Join(conflictRules(), ", "))
	}
	return nil
}

// branches returns the branches that are to be brought to the same state.
func (t *transfer) branches(ctx context.Context, f *syncFlags) ([]string, error) {
	if err := t.c.follow(); err != nil {
		return nil, err
	}
	followed := ""
	if on := t.c.by.Following; on != nil {
		if followed = on.Branch; on.ReadOnly != "" && f.branch == "" && t.c.by.Branch == "" && !f.all {
			return nil, &repo.ReadOnlyError{Why: on.ReadOnly}
		}
	}
	if name := firstOf(f.branch, t.c.by.Branch, followed); name != "" && !f.all {
		return []string{name}, nil
	}
	st, err := t.here.Look(ctx, remote.Question{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, ref := range st.Refs {
		if name, branch := ref.Name.Branch(); branch && f.all {
			names = append(names, name)
		}
	}
	name, on := st.Head.Branch()
	switch {
	case f.all && on && !slices.Contains(names, name):
		return append(names, name), nil // which has no commit yet
	case f.all:
		return names, nil
	case !on:
		return nil, hint(usagef("HEAD is on no branch"), "name one with --branch")
	}
	return []string{name}, nil
}

// sync brings branches here and there to the same state.
func (t *transfer) sync(ctx context.Context, f syncFlags) (*syncJSON, error) {
	names, err := t.branches(ctx, &f)
	if err != nil {
		return nil, err
	}
	out := &syncJSON{Remote: t.remote.Name, DryRun: f.dryRun}
	for _, name := range names {
		out.Branches = append(out.Branches, &syncedBranch{Branch: name})
	}
	idle := 0
	for pause := syncPause; ; pause = min(2*pause, syncPauseMax) {
		out.Rounds++
		had := len(out.Fetched)
		again, err := t.round(ctx, f, out)
		if idle++; len(out.Fetched) > had {
			idle = 0
		}
		if !again || out.Rounds == syncRounds || idle == syncIdle {
			return out, err
		}
		// Those that came at once do not come at once again.
		if err := t.c.sleep(ctx, time.Duration(t.c.app.PID*7919%97+1)*pause/97); err != nil {
			return out, err
		}
	}
}

// sleep waits.
func (c *cli) sleep(ctx context.Context, d time.Duration) error {
	if c.app.Sleep != nil {
		return c.app.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// round fetches, merges and pushes once. It is done anew after an error of refs that moved meanwhile.
func (t *transfer) round(ctx context.Context, f syncFlags, out *syncJSON) (again bool, err error) {
	got, err := t.fetch(ctx, false)
	if err != nil {
		return errors.Is(err, repo.ErrConflict), err
	}
	out.Fetched, out.Clashing = append(out.Fetched, got.Refs...), got.Clashing
	out.Received += got.Bytes
	out.Skewed = append(out.Skewed, got.Skewed...)
	out.add(got.learnedJSON)
	for _, b := range out.Branches {
		if f.dryRun {
			break
		}
		if err := t.merge(ctx, b, f); err != nil {
			return false, err
		}
	}
	refs, err := t.refsToSync(ctx, f, out)
	if err != nil || len(refs) == 0 {
		return false, err
	}
	sent, err := t.push(ctx, refs, pushFlags{})
	if err != nil {
		return errors.Is(err, repo.ErrConflict) && !f.dryRun, err
	}
	out.Pushed, out.Sent = append(out.Pushed, sent.Refs...), out.Sent+sent.Bytes
	out.Untold = out.Untold || sent.Untold
	for _, b := range out.Branches {
		for _, ref := range sent.Refs {
			if ref.Ref == graph.BranchRef(b.Branch) {
				b.Pushed, b.Commit = !f.dryRun, ref.To
			}
		}
	}
	return false, nil
}

// refsToSync returns what the remote is to have then.
func (t *transfer) refsToSync(ctx context.Context, f syncFlags, out *syncJSON) (refs []graph.RefName, err error) {
	st, err := t.here.Look(ctx, remote.Question{Tracking: true})
	if err != nil {
		return nil, err
	}
	at := make(map[graph.RefName]ipld.CID)
	for _, ref := range st.Refs {
		at[ref.Name] = ref.Target
	}
	for _, b := range out.Branches {
		ref := graph.BranchRef(b.Branch)
		b.Commit = at[ref]
		if at[ref].Defined() && at[ref] != at[remote.Tracking(t.remote.Name, ref)] {
			refs = append(refs, ref)
		}
	}
	for name := range at {
		if strings.HasPrefix(string(name), graph.Tags) && f.tags && !at[remote.Tracking(t.remote.Name, name)].Defined() {
			refs = append(refs, name)
		}
	}
	slices.Sort(refs)
	return refs, nil
}

// merge merges what the remote has of a branch.
func (t *transfer) merge(ctx context.Context, b *syncedBranch, f syncFlags) error {
	st, err := t.here.Look(ctx, remote.Question{Tracking: true})
	if err != nil {
		return err
	}
	var here, there ipld.CID
	from := remote.Tracking(t.remote.Name, graph.BranchRef(b.Branch))
	for _, ref := range st.Refs {
		switch ref.Name {
		case graph.BranchRef(b.Branch):
			here = ref.Target
		case from:
			there = ref.Target
		}
	}
	if !there.Defined() || here == there {
		return nil
	}
	req := &ops.MergeRequest{Rev: string(from), RequireSigned: f.signed}
	req.Branch, req.Message = b.Branch, fmt.Sprintf("merge %s of %s", b.Branch, t.remote.Name)
	req.Ours, req.Theirs = f.conflicts == conflictsOurs, f.conflicts == conflictsTheirs
	req.Newest, req.Time = f.conflicts == conflictsNewest, t.c.global.time
	answer, err := t.here.run(ctx, &ops.Merge.Spec, req, nil, nil)
	if res, ok := answer.(*ops.Merged); ok {
		b.Conflicts = append(b.Conflicts, res.Conflicts...)
		if err == nil {
			b.Commit = res.Commit
			b.Forward = b.Forward || res.FastForward
			if !res.FastForward && !res.NoChange {
				b.Merged++
			}
		}
	}
	if err != nil && ops.OutcomeOf(ctx, err) == operation.Conflict {
		return hint(err, "see 'mnem merge --list', decide with 'mnem merge --resolve ITEM --take ours|theirs|base', "+
			"then 'mnem merge --continue' and sync again; or let --conflicts decide")
	}
	return err
}

func (c *cli) printSync(s *syncJSON) error {
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
	c.remarkLearned(s.Remote, s.learnedJSON)
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
	Fetched *fetchJSON    `json:"fetched"`
	Branch  *syncedBranch `json:"branch"`
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
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), f.signed, false)
		if err != nil {
			return err
		}
		defer t.end()
		names, err := t.branches(cmd.Context(), &f)
		if err != nil {
			return err
		}
		got, err := t.fetch(cmd.Context(), false)
		if err != nil {
			return err
		}
		b := &syncedBranch{Branch: names[0]}
		err = t.merge(cmd.Context(), b, f)
		return firstError(c.printPull(&pullJSON{got, b}), err)
	})
}

func (c *cli) printPull(p *pullJSON) error {
	if c.global.json {
		return c.printJSON(p)
	}
	s := &syncJSON{Remote: p.Fetched.Remote, Branches: ops.List[*syncedBranch]{p.Branch}, Clashing: p.Fetched.Clashing,
		Received: p.Fetched.Bytes, Skewed: p.Fetched.Skewed, learnedJSON: p.Fetched.learnedJSON}
	return c.printSync(s)
}

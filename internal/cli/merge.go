package cli

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// mergeJSON is what a merge, a revert or a cherry-pick did.
type mergeJSON struct {
	Commit         *string        `json:"commit"`
	FastForward    bool           `json:"fast_forward"`
	Conflicts      []conflictJSON `json:"conflicts"`
	VectorsDropped int            `json:"vectors_dropped"`
	Branch         string         `json:"branch"`
	Parents        []string       `json:"parents"`
	Graph          *string        `json:"graph"`
	itemCountsJSON
	NoChange bool `json:"no_change"`
	DryRun   bool `json:"dry_run"`

	Warnings ops.Warnings `json:"warnings,omitempty"`
}

// conflictJSON is one item that does not merge; records are named by their CIDs.
type conflictJSON struct {
	Item       string              `json:"item"`
	Kind       graph.ConflictKind  `json:"kind"`
	Label      string              `json:"label"`
	Base       *string             `json:"base"`
	Ours       *string             `json:"ours"`
	Theirs     *string             `json:"theirs"`
	Fields     []fieldConflictJSON `json:"fields"`
	Resolution *string             `json:"resolution"`
}

// fieldConflictJSON is one field with its three values; null where it is absent.
type fieldConflictJSON struct {
	Field  string          `json:"field"`
	Base   json.RawMessage `json:"base"`
	Ours   json.RawMessage `json:"ours"`
	Theirs json.RawMessage `json:"theirs"`
}

// pendingJSON is a merge in progress, or none, and what was kept because it did not merge.
type pendingJSON struct {
	Branch         *string        `json:"branch"`
	Verb           *string        `json:"verb"`
	Ours           *string        `json:"ours"`
	Theirs         *string        `json:"theirs"`
	Conflicts      []conflictJSON `json:"conflicts"`
	VectorsDropped int            `json:"vectors_dropped"`
	Kept           []keptJSON     `json:"kept"`
}

type keptJSON struct {
	Ref    string  `json:"ref"`
	Commit *string `json:"commit"`
	Branch string  `json:"branch"`
}

func jsonKept(k repo.KeptCommit) keptJSON {
	return keptJSON{string(k.Ref), jsonCID(k.Commit), k.Branch}
}

func jsonConflicts(list []repo.Conflict) []conflictJSON {
	out := make([]conflictJSON, len(list))
	for i, c := range list {
		fields := make([]fieldConflictJSON, len(c.Fields))
		for j, f := range c.Fields {
			fields[j] = fieldConflictJSON{
				f.Field, jsonValue(f.Base), jsonValue(f.Ours), jsonValue(f.Theirs),
			}
		}
		out[i] = conflictJSON{
			c.Item.String(), c.Kind, c.Label, jsonCID(c.Base), jsonCID(c.Ours), jsonCID(c.Theirs),
			fields, orNull(c.Resolution),
		}
	}
	return out
}

// mergeFlags are the flags of merge, revert and cherry-pick.
type mergeFlags struct {
	message, expect           string
	ours, theirs, dryRun      bool
	noFF, list, resume, abort bool
	resolve, take, drop       string
}

// integrateFlags adds the flags that merge, revert and cherry-pick share.
func (c *cli) integrateFlags(cmd *cobra.Command, f *mergeFlags) {
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	c.secretFlag(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.message, "message", "m", "",
		"what the commit is about; default: what was done")
	flags.StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be at; "+
		"else exit code 5")
	flags.BoolVar(&f.ours, "ours", false,
		"where both sides changed one thing, take what the branch has")
	flags.BoolVar(&f.theirs, "theirs", false,
		"where both sides changed one thing, take the other side's")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would happen and write nothing")
	cmd.MarkFlagsMutuallyExclusive("ours", "theirs")
}

func (c *cli) mergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use: "merge REV | --list | --resolve ITEM --take ours|theirs|base|FILE | " +
			"--continue | --abort",
		GroupID: groupChange,
		Short:   "Merge another branch, and resolve what conflicts",
		Long: "Merge a branch or any commit into the current branch, by field, property, edge and mark:\n" +
			"what one side changed or removed since both began at one commit is taken, and what both\n" +
			"changed alike. Where the branch has nothing of its own it simply moves. What both changed\n" +
			"differently is a conflict, exit code 5: the merge then waits, and the branch stays where\n" +
			"it is, until each conflict is resolved and the merge continued.\n\n" +
			"An item is named as --list prints it, by the key of a node, or by a prefix of its id. It\n" +
			"is resolved with --take by ours, theirs, base (as before both), or a file of change lines\n" +
			"about it, \"-\" being standard input; --list shows what is decided. Taking an edge brings\n" +
			"back the node that the other side removed. Changes made for an older commit that did not\n" +
			"merge are kept, and listed too: merge them by their ref, or --drop it.",
		Example: "  mnem merge draft --dry-run\n" +
			"  mnem merge draft --theirs\n" +
			"  mnem merge --list",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	c.integrateFlags(cmd, &f)
	c.requireFlag(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.noFF, "no-ff", false,
		"make a merge commit also where the branch could simply move")
	flags.BoolVar(&f.list, "list", false, "show the merge in progress, and what was kept")
	flags.BoolVar(&f.resume, "continue", false, "make the commit, all conflicts being resolved")
	flags.BoolVar(&f.abort, "abort", false, "forget the merge in progress")
	flags.StringVar(&f.resolve, "resolve", "", "decide about one `ITEM`, with --take")
	flags.StringVar(&f.take, "take", "", "ours, theirs, base, or a `FILE` of change lines")
	flags.StringVar(&f.drop, "drop", "", "forget what was kept under a `REF`")
	cmd.MarkFlagsMutuallyExclusive("list", "continue", "abort", "resolve", "drop")
	cmd.MarkFlagsRequiredTogether("resolve", "take")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.runMerge(cmd, args, f)
	})
}

func (c *cli) runMerge(cmd *cobra.Command, args []string, f mergeFlags) error {
	alone := f.list || f.resume || f.abort || f.resolve != "" || f.drop != ""
	switch {
	case alone && len(args) > 0:
		return usagef("a revision to merge, or one of --list, --resolve, --continue, --abort, --drop")
	case !alone && len(args) == 0:
		return usagef("what to merge? name a branch, or see --list")
	case alone && (f.ours || f.theirs || f.noFF || f.dryRun):
		return usagef("--ours, --theirs, --no-ff and --dry-run are for a new merge")
	}
	if alone && !f.resume {
		for _, name := range []string{"message", "sign", "no-sign", "key", "require-signed"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s is for what makes a commit: a merge, or --continue", name)
			}
		}
	}
	switch {
	case (f.list || f.drop != "") && f.expect != "":
		return usagef("--expect is for what changes a branch or the merge into it")
	case f.list:
		return c.withRepo(cmd, false, c.listMerge)
	}
	opt, err := c.mergeOptions(cmd, f)
	if err != nil {
		return err
	}
	if opt.Verify, err = c.requireSigned(ruleMerge); err != nil {
		return err
	}
	if !alone {
		return c.integrate(cmd, f, func(ctx context.Context, r *repo.Repo) (*repo.MergeResult, error) {
			return r.Merge(ctx, args[0], opt)
		})
	}
	return c.withRepo(cmd, true, func(ctx context.Context, r *repo.Repo) error {
		switch {
		case f.resume:
			res, err := r.ContinueMerge(ctx, opt)
			return c.mergeDone(res, err, f)
		case f.abort:
			return c.abortMerge(ctx, r, opt.CommitOptions)
		case f.drop != "":
			return c.dropKept(ctx, r, f.drop, opt.Stamp)
		}
		return c.resolveConflict(ctx, r, f, opt.CommitOptions)
	})
}

func (c *cli) mergeOptions(cmd *cobra.Command, f mergeFlags) (repo.MergeOptions, error) {
	opt := repo.MergeOptions{NoFastForward: f.noFF}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return opt, err
	}
	opt.CommitOptions = repo.CommitOptions{Stamp: by, Message: f.message, Branch: c.branch()}
	opt.Expect, err = ops.ParseExpect(f.expect)
	switch {
	case f.ours:
		opt.Prefer = graph.TakeOurs
	case f.theirs:
		opt.Prefer = graph.TakeTheirs
	}
	return opt, err
}

// integrateRevs finishes a command that does something with the changes of REV or FROM..TO.
func (c *cli) integrateRevs(
	cmd *cobra.Command,
	do func(*repo.Repo, context.Context, string, repo.MergeOptions) (*repo.MergeResult, error),
) *cobra.Command {
	var f mergeFlags
	cmd.Args, cmd.ValidArgsFunction = cobra.ExactArgs(1), c.completeArg(completeRevs)
	c.integrateFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		opt, err := c.mergeOptions(cmd, f)
		if err != nil {
			return err
		}
		return c.integrate(cmd, f, func(ctx context.Context, r *repo.Repo) (*repo.MergeResult, error) {
			return do(r, ctx, args[0], opt)
		})
	})
}

// integrate runs a merge, revert or cherry-pick and prints what it did.
func (c *cli) integrate(
	cmd *cobra.Command, f mergeFlags,
	run func(context.Context, *repo.Repo) (*repo.MergeResult, error),
) error {
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		res, err := run(ctx, to)
		var busy *repo.InProgressError
		if errors.As(err, &busy) {
			err = hint(err, "see 'mnem merge --list'; then 'mnem merge --continue' or --abort")
		}
		return c.mergeDone(res, err, f)
	})
}

// mergeDone prints a result. Where conflicts remain it is printed as well as the error returned.
func (c *cli) mergeDone(res *repo.MergeResult, err error, f mergeFlags) error {
	var clash *repo.MergeError
	if !errors.As(err, &clash) {
		if err != nil {
			return err
		}
		return c.printMerge(res, f)
	}
	if res == nil {
		return hint(err, "see 'mnem merge --list', and decide with 'mnem merge --resolve ITEM "+
			"--take …'")
	}
	if printErr := c.printMerge(res, f); printErr != nil {
		return printErr
	}
	if f.dryRun {
		return hint(err, "this was a dry run: nothing is kept")
	}
	return hint(err, "decide with 'mnem merge --resolve ITEM --take ours|theirs|base|FILE', then "+
		"'mnem merge --continue'; or 'mnem merge --abort'")
}

func (c *cli) printMerge(res *repo.MergeResult, f mergeFlags) error {
	c.warnSecrets(ops.WarningsOf(res.Secrets))
	if c.global.json {
		out := mergeJSON{
			Commit: jsonCID(res.Commit), FastForward: res.FastForward,
			Conflicts: jsonConflicts(res.Conflicts), VectorsDropped: res.VectorsDropped,
			Branch: res.Branch, Parents: jsonCIDs(res.Parents), Graph: jsonCID(res.Graph),
			itemCountsJSON: itemCountsJSON{res.Nodes, res.Edges},
			NoChange:       res.NoChange, DryRun: f.dryRun, Warnings: ops.WarningsOf(res.Secrets),
		}
		if f.dryRun && !res.FastForward && !res.NoChange {
			out.Commit = nil // its time would be another
		}
		return c.printJSON(out)
	}
	if err := c.printConflicts(res.Conflicts); err != nil {
		return err
	}
	if res.VectorsDropped > 0 {
		c.remark("note: %s of changed text dropped: embed again", plural(res.VectorsDropped, "vector"))
	}
	would := ""
	if f.dryRun {
		would = "would be "
	}
	switch branch := c.paint(styleCyan, line(res.Branch)); {
	case res.NoChange:
		return c.printf("nothing to do: %s has all of it\n", branch)
	case !res.Commit.Defined():
		return nil
	case res.FastForward:
		return c.printf("[%s %s] %sfast-forward: %s, %s\n", branch,
			c.paint(styleYellow, shortCID(res.Commit)), would, c.countsLine(res.Nodes, "nodes"),
			c.countsLine(res.Edges, "edges"))
	case f.dryRun:
		return c.printf("[%s] would be %s, %s\n", branch, c.countsLine(res.Nodes, "nodes"),
			c.countsLine(res.Edges, "edges"))
	}
	return c.printf("[%s %s] %s, %s\n", c.paint(styleCyan, line(res.Branch)),
		c.paint(styleYellow, shortCID(res.Commit)), c.countsLine(res.Nodes, "nodes"),
		c.countsLine(res.Edges, "edges"))
}

// printConflicts prints conflicts for people: an item a line, then its fields.
func (c *cli) printConflicts(list []repo.Conflict) error {
	for _, con := range list {
		state := c.paint(styleRed, string(con.Kind))
		if con.Resolution != "" {
			state = c.paint(styleGreen, "resolved: "+con.Resolution)
		}
		if err := c.printf("%s  %s  %s\n", state, con.Item, line(con.Label)); err != nil {
			return err
		}
		for _, f := range con.Fields {
			err := c.printf("  %s: ours %s, theirs %s, base %s\n", line(f.Field), shownField(f.Ours),
				shownField(f.Theirs), shownField(f.Base))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cli) listMerge(ctx context.Context, r *repo.Repo) error {
	p, err := r.PendingMerge(ctx, c.branch())
	if errors.Is(err, store.ErrNotFound) {
		p, err = nil, nil
	}
	if err != nil {
		return err
	}
	kept, err := r.KeptCommits(ctx)
	if err != nil {
		return err
	}
	return c.printPending(p, kept)
}

// printPending prints a merge in progress, nil for none, and what was kept.
func (c *cli) printPending(p *repo.PendingMerge, kept []repo.KeptCommit) error {
	out := pendingJSON{Conflicts: []conflictJSON{}, Kept: make([]keptJSON, len(kept))}
	for i, k := range kept {
		out.Kept[i] = jsonKept(k)
	}
	if p != nil {
		out.Branch, out.Verb = &p.Branch, &p.Verb
		out.Ours, out.Theirs = jsonCID(p.Ours), jsonCID(p.Theirs)
		out.Conflicts, out.VectorsDropped = jsonConflicts(p.Conflicts), p.VectorsDropped
	}
	if c.global.json {
		return c.printJSON(out)
	}
	if p == nil && len(kept) == 0 {
		return c.printf("no merge in progress\n")
	}
	if p != nil {
		err := c.printf("%s into %s: %s, %d open\n", p.Verb, line(p.Branch),
			plural(len(p.Conflicts), "conflict"), p.Open())
		if err == nil {
			err = c.printConflicts(p.Conflicts)
		}
		if err != nil {
			return err
		}
	}
	for _, k := range kept {
		if err := c.printf("kept for %s: %s\n", line(k.Branch), line(string(k.Ref))); err != nil {
			return err
		}
	}
	return nil
}

// resolveConflict decides about one conflict.
func (c *cli) resolveConflict(
	ctx context.Context, r *repo.Repo, f mergeFlags, opt repo.CommitOptions,
) error {
	choice := repo.Choice{Take: graph.Take(f.take)}
	switch choice.Take {
	case graph.TakeOurs, graph.TakeTheirs, graph.TakeBase:
	default:
		changes, err := c.changes(ctx, []string{f.take})
		if err != nil {
			return err
		}
		choice = repo.Choice{Changes: changes}
	}
	p, err := r.ResolveConflict(ctx, f.resolve, choice, opt)
	if err != nil {
		return err
	}
	return c.printPending(p, nil)
}

func (c *cli) abortMerge(ctx context.Context, r *repo.Repo, opt repo.CommitOptions) error {
	branch, err := r.AbortMerge(ctx, opt)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printJSON(pendingJSON{
			Branch: &branch, Conflicts: []conflictJSON{}, Kept: []keptJSON{},
		})
	}
	return c.printf("forgot the merge into %s\n", line(branch))
}

func (c *cli) dropKept(ctx context.Context, r *repo.Repo, ref string, by repo.Stamp) error {
	if err := r.DropKept(ctx, graph.RefName(ref), by); err != nil {
		return err
	}
	kept, err := r.KeptCommits(ctx)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printPending(nil, kept)
	}
	return c.printf("forgot %s\n", line(ref))
}

// shownField is one value of a field for people.
func shownField(v *ipld.Value) string {
	if v == nil {
		return "none"
	}
	return brief(string(ipld.AppendJSON(nil, *v)), summaryWidth)
}

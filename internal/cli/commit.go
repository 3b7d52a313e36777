package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// commitJSON is what a commit did.
type commitJSON struct {
	Commit  *string  `json:"commit"`
	Parents []string `json:"parents"`
	Branch  string   `json:"branch"`
	Graph   *string  `json:"graph"`
	itemCountsJSON
	Duplicates int   `json:"duplicates"`
	Unchanged  int   `json:"unchanged"`
	NoChange   bool  `json:"no_change"`
	Rebased    bool  `json:"rebased,omitempty"` // whether the branch had moved in the meantime
	DryRun     bool  `json:"dry_run"`
	Changes    []any `json:"changes,omitempty"` // as jsonChanges

	Warnings ops.Warnings `json:"warnings,omitempty"`
}

// keptCommitJSON is a commit that does not merge with its branch and was kept.
type keptCommitJSON struct {
	Commit    *string        `json:"commit"` // null: the branch has none of it
	Branch    string         `json:"branch"`
	Base      *string        `json:"base"`
	Head      *string        `json:"head"`
	Kept      *string        `json:"kept"`
	Ref       *string        `json:"ref"`
	Conflicts []conflictJSON `json:"conflicts"`
}

// commitFlags are the flags of commands that make one commit.
type commitFlags struct {
	message, expect, base string
	dryRun, amend         bool
	nodes                 []string // NODE=CID, of --expect-node
}

func (c *cli) commitCommand() *cobra.Command {
	var f commitFlags
	cmd := &cobra.Command{
		Use:     "commit -m MESSAGE [FILE…|-]",
		GroupID: groupChange,
		Short:   "Commit change lines, or what is staged",
		Long: "Apply change lines to the newest commit of a branch and make a commit of the result.\n" +
			"Several files are one batch, \"-\" is standard input, and all is applied or nothing: an\n" +
			"error names the file and line. Without files what is staged is committed. Where that\n" +
			"began at an older commit, or with --base, it is merged onto the newest one; what both\n" +
			"changed is a conflict, exit code 5, and the changes are kept under a ref to be merged.\n" +
			"Changes that leave everything as it is make no commit and are no error.\n\n" +
			"With --amend the newest commit is replaced by one with the changes added.\n\n" +
			"See 'mnem help changes' for the form of change lines.",
		Example: "  mnem commit -m 'first facts' facts.jsonl people.jsonl\n" +
			"  mnem add facts.jsonl && mnem commit -m 'what was staged'\n" +
			"  mnem commit -m 'try it' --dry-run facts.jsonl",
	}
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.stageFlag(cmd)
	c.signFlags(cmd)
	c.strictFlag(cmd)
	cmd.Flags().StringVarP(&f.message, "message", "m", "", "what the commit is about; required")
	cmd.Flags().StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be "+
		"at, or \"none\" for a branch without one; else exit code 5")
	cmd.Flags().StringArrayVar(&f.nodes, "expect-node", nil, "the version that a node must have, "+
		"`NODE=CID`, as 'mnem get' prints it, or NODE=none; else exit code 5 (repeatable)")
	cmd.Flags().StringVar(&f.base, "base", "", "the `REV` that the changes in FILEs were made "+
		"against, or \"none\": where the branch moved since they are merged onto it")
	cmd.Flags().BoolVar(&f.amend, "amend", false, "replace the newest commit; without -m its message "+
		"stays")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would change and write nothing")
	cmd.MarkFlagsMutuallyExclusive("amend", "base")
	c.complete(cmd, "base", completeRevs)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.runCommit(cmd, args, f)
	})
}

func (c *cli) runCommit(cmd *cobra.Command, args []string, f commitFlags) error {
	switch {
	case f.message == "" && !f.dryRun && !f.amend:
		return usagef("no message: say what the commit is about with -m MESSAGE")
	case f.base != "" && len(args) == 0:
		return usagef("--base is for change lines: a stage knows where it began")
	}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Message: f.message, Branch: c.branch(), Amend: f.amend}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	if opt.ExpectNodes, err = parseExpectNodes(f.nodes); err != nil {
		return err
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, r, to *repo.Repo) error {
		if opt.Base, err = c.baseCommit(ctx, r, f.base); err != nil {
			return err
		}
		res, err := c.commitTo(ctx, to, args, opt)
		var kept *repo.MergeError
		if errors.As(err, &kept) {
			return c.keptCommit(kept, f.dryRun)
		}
		if err != nil {
			return err
		}
		return c.printCommit(ctx, to, res, f.dryRun)
	})
}

// baseCommit reads the value of --base: nil where it was not given.
func (c *cli) baseCommit(ctx context.Context, r *repo.Repo, rev string) (*ipld.CID, error) {
	var at ipld.CID
	switch rev {
	case "":
		return nil, nil
	case "none":
		return &at, nil
	}
	at, err := r.Resolve(ctx, rev)
	return &at, err
}

// keptCommit prints what conflicts, and returns the error that says so.
func (c *cli) keptCommit(kept *repo.MergeError, dryRun bool) error {
	var err error
	if c.global.json {
		out := keptCommitJSON{
			Branch: kept.Branch, Base: jsonCID(kept.Base), Head: jsonCID(kept.Head),
			Conflicts: jsonConflicts(kept.Conflicts),
		}
		if !dryRun {
			out.Kept, out.Ref = jsonCID(kept.Kept), orNull(string(kept.Ref))
		}
		err = c.printJSON(out)
	} else {
		err = c.printConflicts(kept.Conflicts)
	}
	switch {
	case err != nil:
		return err
	case dryRun:
		return hint(kept, "this was a dry run: nothing is kept")
	}
	return hint(kept, "resolve it with 'mnem merge %s', or forget it with 'mnem merge --drop %s'",
		kept.Ref, kept.Ref)
}

// commitStamp says who commits, and signs what will be kept.
func (c *cli) commitStamp(cmd *cobra.Command, dryRun bool) (repo.Stamp, error) {
	if _, err := c.dir(); err != nil { // who writes where there is no repository has no other worry
		return repo.Stamp{}, err
	}
	if dryRun {
		return c.stamp(cmd)
	}
	return c.signedStamp(cmd)
}

func (c *cli) commitTo(
	ctx context.Context, r *repo.Repo, args []string, opt repo.CommitOptions,
) (*repo.CommitResult, error) {
	if len(args) == 0 {
		return r.CommitStaged(ctx, c.stage(), opt)
	}
	changes, err := c.changes(ctx, args)
	if err != nil {
		return nil, err
	}
	p := c.progress()
	defer p.done()
	return r.Commit(ctx, p.count(changes), opt)
}

// count shows the number of changes read.
func (p *progress) count(changes repo.Changes) repo.Changes {
	return func(yield func(graph.Change, error) bool) {
		n := 0
		for change, err := range changes {
			if !yield(change, err) {
				return
			}
			n++
			p.set("changes read:", n, 0)
		}
		p.say("writing")
	}
}

// parseExpectNodes reads the values of --expect-node. A node is named by its whole key or id: what a
// shorter name means might change meanwhile.
func parseExpectNodes(values []string) (map[graph.ID]ipld.CID, error) {
	out := make(map[graph.ID]ipld.CID, len(values))
	for _, v := range values {
		i := strings.LastIndexByte(v, '=')
		if i < 1 {
			return nil, usagef("--expect-node: %q is not of the form NODE=CID", v)
		}
		ref, err := ops.FutureRef(v[:i])
		if err != nil {
			return nil, usagef("--expect-node: %w", err)
		}
		var want ipld.CID
		if v[i+1:] != "none" {
			if want, err = ipld.ParseCID(v[i+1:]); err != nil {
				return nil, usagef("--expect-node: %w", err)
			}
		}
		out[ref.Target()] = want
	}
	return out, nil
}

func (c *cli) printCommit(
	ctx context.Context, r *repo.Repo, res *repo.CommitResult, dryRun bool,
) error {
	out := commitJSON{
		Commit: jsonCID(res.Commit), Parents: jsonCIDs(res.Parents), Branch: res.Branch,
		Graph:          jsonCID(res.Graph),
		itemCountsJSON: itemCountsJSON{res.Nodes, res.Edges},
		Duplicates:     res.Duplicates, Unchanged: res.Unchanged, NoChange: res.NoChange,
		Rebased: res.Rebased, DryRun: dryRun, Warnings: ops.WarningsOf(res.Secrets),
	}
	c.warnSecrets(ops.WarningsOf(res.Secrets))
	switch {
	case dryRun && !res.NoChange:
		return c.printDryRun(ctx, r, res, out)
	case c.global.json:
		return c.printJSON(out)
	case res.NoChange:
		return c.printf("nothing to commit%s\n", repeats(res.Duplicates, res.Unchanged))
	}
	return c.printf("[%s %s] %s, %s%s\n", c.paint(styleCyan, line(res.Branch)),
		c.paint(styleYellow, shortCID(res.Commit)), c.countsLine(res.Nodes, "nodes"),
		c.countsLine(res.Edges, "edges"), repeats(res.Duplicates, res.Unchanged))
}

// printDryRun prints what a commit would change.
func (c *cli) printDryRun(
	ctx context.Context, r *repo.Repo, res *repo.CommitResult, out commitJSON,
) error {
	var parent ipld.CID
	if len(res.Parents) > 0 {
		parent = res.Parents[0]
	}
	before, err := r.At(ctx, parent)
	if err != nil {
		return err
	}
	after, err := r.At(ctx, res.Commit)
	if err != nil {
		return err
	}
	diff := before.Diff(after)
	if c.global.json {
		out.Commit = nil // its time would be another
		if out.Changes, _, err = jsonChanges(ctx, diff); err != nil {
			return err
		}
		return c.printJSON(out)
	}
	if err := c.printShort(ctx, diff, res.Nodes, res.Edges, before); err != nil {
		return err
	}
	return c.printf("would commit %s, %s%s\n", c.countsLine(res.Nodes, "nodes"),
		c.countsLine(res.Edges, "edges"), repeats(res.Duplicates, res.Unchanged))
}

// repeats tells how many lines said what was known already.
func repeats(duplicates, unchanged int) string {
	text := ""
	if duplicates > 0 {
		text += fmt.Sprintf(", %s", plural(duplicates, "duplicate"))
	}
	if unchanged > 0 {
		text += fmt.Sprintf(", %d unchanged", unchanged)
	}
	return text
}

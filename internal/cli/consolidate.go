package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// defaultProposals is how many proposals are printed unless told.
const defaultProposals = 100

// proposalJSON is one proposal of consolidation.
type proposalJSON struct {
	ID         string              `json:"id"`
	Kind       memory.ProposalKind `json:"kind"`
	Why        string              `json:"why"`
	Nodes      []string            `json:"nodes"`
	Names      []string            `json:"names"`
	Similarity int64               `json:"similarity,omitempty"`
	Differs    []textDiffersJSON   `json:"differs,omitempty"`
	Importance *ops.Importance     `json:"importance,omitempty"`
	Tag        string              `json:"tag,omitempty"`
	Spellings  []string            `json:"spellings,omitempty"`
}

// textDiffersJSON is one difference between two texts.
type textDiffersJSON struct {
	Kind string `json:"kind"`
	A    string `json:"a"`
	B    string `json:"b"`
}

func jsonProposals(list []memory.Proposal) []proposalJSON {
	out := make([]proposalJSON, len(list))
	for i := range list {
		p := &list[i]
		out[i] = proposalJSON{
			ID: p.ID, Kind: p.Kind, Why: p.Why, Nodes: idTexts(p.Nodes),
			Names: append([]string{}, p.Names...), Importance: ops.ImportanceOf(p.Importance),
			Tag: p.Tag, Spellings: p.Spellings,
		}
		if p.Kind == memory.ProposeContradiction {
			out[i].Similarity = p.Similarity
		}
		for _, d := range p.Differs {
			out[i].Differs = append(out[i].Differs, textDiffersJSON{string(d.Kind), d.A, d.B})
		}
	}
	return out
}

// proposalsJSON is what consolidation proposes.
type proposalsJSON struct {
	Commit    *string        `json:"commit"`
	Now       string         `json:"now"`
	Proposals []proposalJSON `json:"proposals"`
	Memories  int            `json:"memories"`
	Declined  int            `json:"declined"`
	More      int            `json:"more"` // proposals that are not printed
}

// consolidatedJSON is what became of proposals that were picked.
type consolidatedJSON struct {
	Picked   []proposalJSON `json:"picked"`
	Marked   []string       `json:"marked"`
	Unmarked []string       `json:"unmarked"`
	Retagged []string       `json:"retagged"`
	Commit   *string        `json:"commit"`
	Branch   string         `json:"branch"`
	Graph    *string        `json:"graph"`
	NoChange bool           `json:"no_change"`
	DryRun   bool           `json:"dry_run"`
}

// consolidateFlags are the flags of consolidate.
type consolidateFlags struct {
	markFlags
	apply, decline bool
	now            string
	kinds          []string
	cap, limit     int
}

func (c *cli) consolidateCommand() *cobra.Command {
	var f consolidateFlags
	cmd := &cobra.Command{
		Use:     "consolidate [--apply [ID…] | --decline ID…]",
		GroupID: groupChange,
		Short:   "Propose what could be tidied up, and do it",
		Long: "Look for what could be tidied up and list it with what speaks for it. Nothing is written\n" +
			"without --apply, which does all of it, or the proposals of these ids, in one commit that\n" +
			"'mnem undo' takes back.\n\n" +
			"  expired         its time has passed: to be marked expired\n" +
			"  duplicate       they say the same: all but the most important, then oldest, superseded\n" +
			"  contradiction   a negation or a number differs: contradicted by each other\n" +
			"  tag             one tag in several spellings: the one used most takes their place\n" +
			"  low             the least important beyond --cap: retired; never from importance 4 on\n" +
			"  isolated        older than two half-lives, said once, linked to nothing: stale\n\n" +
			"Nothing is removed: marks hide or say something, and 'mnem restore' takes them off. --decline\n" +
			"keeps that a proposal is not wanted: it does not come again until what speaks for it changes.\n" +
			"An id, of which 4 digits or more do, says what a proposal is about: whatever was written since,\n" +
			"no other one is done than the one that was listed. Where all is done, --expect makes sure that\n" +
			"all is what was listed at that commit.",
		Example: "  mnem consolidate\n  mnem consolidate --kind duplicate,contradiction --json\n" +
			"  mnem consolidate --cap 1000 --kind low\n  mnem consolidate --apply --dry-run",
	}
	c.atFlag(cmd)
	f.add(c, cmd)
	cmd.Flags().BoolVar(&f.apply, "apply", false, "do what is proposed, all or these ids")
	cmd.Flags().BoolVar(&f.decline, "decline", false, "do not propose these ids again")
	cmd.Flags().StringVar(&f.now, "now", "", "`TIME` that counts as now, RFC 3339 or YYYY-MM-DD (default: "+
		"the time of the change)")
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only these `KINDS`")
	cmd.Flags().IntVar(&f.cap, "cap", 0, "how many memories there may be before the least important are "+
		"to be retired, `N`; 0 for any number")
	cmd.Flags().IntVar(&f.limit, "limit", defaultProposals, "print at most `N` proposals; 0 for all")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.runConsolidate(cmd, args, &f)
	})
}

func (f *consolidateFlags) check(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	switch {
	case f.apply && f.decline:
		return usagef("--apply and --decline exclude each other")
	case f.decline && len(args) == 0:
		return usagef("--decline: name proposals by their ids")
	case !f.apply && !f.decline && len(args) > 0:
		return usagef("%q: give --apply or --decline with it", args[0])
	case (f.apply || f.decline) && given("at"):
		return usagef("--at is for looking: what is written goes onto the branch")
	case !f.apply && !f.decline && (given("branch") || given("expect") || given("message")):
		return usagef("--branch, --expect and --message go with --apply or --decline")
	case f.reason != "":
		return usagef("--reason: what speaks for a proposal is the reason")
	case f.cap < 0:
		return usagef("--cap: %d is below 0", f.cap)
	case f.limit < 0:
		return usagef("--limit: %d is below 0", f.limit)
	}
	return nil
}

func (c *cli) runConsolidate(cmd *cobra.Command, args []string, f *consolidateFlags) error {
	if err := f.check(cmd, args); err != nil {
		return err
	}
	now, err := c.nowFlag(f.now)
	if err != nil {
		return err
	}
	p := c.progress()
	req := memory.ConsolidateRequest{Now: now, Cap: f.cap, Progress: func(done, total int) {
		p.set("memories compared:", done, total)
	}}
	for _, k := range f.kinds {
		req.Kinds = append(req.Kinds, memory.ProposalKind(k))
	}
	if req.Accesses, err = c.accesses(); err != nil {
		return err
	}
	if !f.apply && !f.decline {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			s, err := c.snapshot(ctx, r)
			if err != nil {
				return err
			}
			found, err := memory.Propose(ctx, s, req)
			p.done()
			if err != nil {
				return err
			}
			return c.printProposals(s, req, found, f.limit)
		})
	}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Message: f.message, Branch: c.branch()}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	var picks []string
	if len(args) > 0 {
		picks = args
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		do := memory.New(to).Consolidate
		if f.decline {
			do = memory.New(to).Decline
		}
		res, err := do(ctx, opt, req, picks)
		p.done()
		var missing *repo.NotFoundError
		if errors.As(err, &missing) && missing.What == "proposal" {
			return hint(err, "it was settled or is about other words now, or an id has fewer than %d digits; "+
				"'mnem consolidate' with the same flags lists what there is", memory.MinPick)
		}
		if err != nil {
			return err
		}
		return c.printConsolidated(res, f)
	})
}

func (c *cli) printProposals(
	s *repo.Snapshot, req memory.ConsolidateRequest, found *memory.Proposals, limit int,
) error {
	list, more := found.List, found.More
	if limit > 0 && len(list) > limit {
		more += len(list) - limit
		list = list[:limit]
	}
	if c.global.json {
		return c.printJSON(proposalsJSON{
			Commit: jsonCID(s.CID()), Now: req.Now.String(), Proposals: jsonProposals(list),
			Memories: found.Memories, Declined: found.Declined, More: more,
		})
	}
	for i := range list {
		if err := c.proposalText(&list[i]); err != nil {
			return err
		}
	}
	if len(found.List) == 0 {
		if err := c.printf("nothing to propose\n"); err != nil {
			return err
		}
	}
	rest := ""
	if found.Declined > 0 {
		rest += fmt.Sprintf(", %d declined", found.Declined)
	}
	if more > 0 {
		rest += fmt.Sprintf(", %d more (--limit 0 prints all)", more)
	}
	c.remark("%s about %s%s", plural(len(found.List)+found.More, "proposal"),
		memoriesText(found.Memories), rest)
	return nil
}

func memoriesText(n int) string {
	if n == 1 {
		return "1 memory"
	}
	return fmt.Sprintf("%d memories", n)
}

// proposalText prints a proposal with what speaks for it.
func (c *cli) proposalText(p *memory.Proposal) error {
	why := p.Why
	if p.Kind == memory.ProposeTag {
		why = fmt.Sprintf("%s <- %s, of %s", line(p.Tag), line(strings.Join(p.Spellings, ", ")),
			memoriesText(len(p.Nodes)))
	}
	err := c.printf("%s  %s  %s\n", c.paint(styleYellow, p.ID), c.paint(styleBold, string(p.Kind)),
		line(why))
	if err != nil || p.Kind == memory.ProposeTag {
		return err
	}
	for i, id := range p.Nodes[:len(p.Names)] {
		mark := " "
		if p.Kind == memory.ProposeDuplicate {
			mark = "-"
			if i == 0 {
				mark = "+"
			}
		}
		if err := c.printf("  %s %s  %s\n", mark, id.String()[:8],
			brief(p.Names[i], summaryWidth)); err != nil {
			return err
		}
	}
	for _, d := range p.Differs {
		if err := c.printf("    %s: %q or %q\n", d.Kind, line(d.A), line(d.B)); err != nil {
			return err
		}
	}
	if p.Importance != nil {
		return c.printf("    %s\n", importanceText(ops.ImportanceOf(p.Importance)))
	}
	return nil
}

func (c *cli) printConsolidated(res *memory.ConsolidateResult, f *consolidateFlags) error {
	if c.global.json {
		out := consolidatedJSON{
			Picked: jsonProposals(res.Picked), Marked: idTexts(res.Marked),
			Unmarked: idTexts(res.Unmarked), Retagged: idTexts(res.Retagged),
			Commit: jsonCID(res.Commit), Branch: res.Branch, Graph: jsonCID(res.Graph),
			NoChange: res.NoChange, DryRun: f.dryRun,
		}
		if f.dryRun && !res.NoChange {
			out.Commit = nil // its time would be another
		}
		return c.printJSON(out)
	}
	for i := range res.Picked {
		if err := c.proposalText(&res.Picked[i]); err != nil {
			return err
		}
	}
	what := plural(len(res.Marked)+len(res.Unmarked), "mark")
	if n := len(res.Retagged); n > 0 {
		what += ", tags of " + memoriesText(n)
	}
	switch {
	case res.NoChange:
		return c.printf("nothing to commit\n")
	case f.dryRun:
		return c.printf("would commit %s\n", what)
	}
	return c.printf("[%s %s] %s\n", c.paint(styleCyan, line(res.Branch)),
		c.paint(styleYellow, shortCID(res.Commit)), what)
}

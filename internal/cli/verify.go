package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// verifyJSON is one commit and its signature.
type verifyJSON struct {
	Commit string `json:"commit"`
	ops.Signature
}

func (c *cli) verifyCommand() *cobra.Command {
	var all, strict bool
	var limit int
	cmd := &cobra.Command{
		Use:     "verify [REV|REV..REV] [--all] [--strict]",
		GroupID: groupCare,
		Short:   "Check the signatures of commits",
		Long: "Check the signature of every commit that a revision reaches, of those that A..B has\n" +
			"beyond A, or with --all of every branch and tag, newest first. A commit is one of:\n\n" +
			"  signed     the signature holds, by a key that you trust\n" +
			"  untrusted  it holds, by a key that you do not trust; see 'mnem key trust'\n" +
			"  unsigned   there is none\n" +
			"  revoked    it holds, by a key that was revoked, for ever or before the commit's time\n" +
			"  bad        it does not hold, or is not of a known form\n\n" +
			"The exit code is 4 where a commit is bad or revoked, with --strict where one is anything\n" +
			"but signed. A signature says that the key's owner vouches for a commit and for all it\n" +
			"builds on, not that the author it names is that owner. The time of a commit is what its\n" +
			"signer says: against a stolen key, revoke it without --since. With --json, one object a\n" +
			"line.",
		Example:           "  mnem verify\n  mnem verify HEAD~1..HEAD\n  mnem verify --all --json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	cmd.Flags().BoolVar(&all, "all", false, "every branch and tag")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit code 4 unless every commit is signed")
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "at most `N` commits; 0 for all")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		switch {
		case limit < 0:
			return usagef("--limit: %d is below 0", limit)
		case all && len(args) > 0:
			return usagef("give a revision or --all, not both")
		}
		trusted, err := c.verifier()
		if err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			from, until, err := verified(ctx, r, args, all)
			if err != nil {
				return ops.CommitHint(err)
			}
			return c.runVerify(ctx, r, from, until, trusted, limit, strict)
		})
	})
}

// verified returns the commits to verify from, and those to stop at.
func verified(
	ctx context.Context, r *repo.Repo, args []string, all bool,
) (from, until []ipld.CID, err error) {
	if all {
		from, err = tips(ctx, r)
		return from, nil, err
	}
	rev := "HEAD"
	if len(args) == 1 {
		rev = args[0]
	}
	since, tip, isRange := strings.Cut(rev, "..")
	if !isRange {
		since, tip = "", rev
	} else if since == "" && tip == "" {
		return nil, nil, usagef("%q: want REV..REV", rev)
	}
	c, err := r.Resolve(ctx, firstOf(tip, "HEAD"))
	if err != nil || !isRange {
		return []ipld.CID{c}, nil, err
	}
	stop, err := r.Resolve(ctx, firstOf(since, "HEAD"))
	return []ipld.CID{c}, []ipld.CID{stop}, err
}

// tips returns the commits that refs name.
func tips(ctx context.Context, r *repo.Repo) ([]ipld.CID, error) {
	refs, err := r.Refs(ctx)
	if err != nil {
		return nil, err
	}
	var found []ipld.CID
	for _, ref := range refs {
		if ref.Symbolic != "" {
			continue
		}
		c, err := r.Resolve(ctx, string(ref.Name))
		if errors.Is(err, repo.ErrInvalid) {
			continue // a session, stage or conflict
		}
		if err != nil {
			return nil, fmt.Errorf("ref %s: %w", ref.Name, err)
		}
		found = append(found, c)
	}
	return found, nil
}

func (c *cli) runVerify(
	ctx context.Context, r *repo.Repo, from, until []ipld.CID, trusted commit.Verifier, limit int,
	strict bool,
) error {
	counts := make(map[commit.SignatureState]int)
	n := 0
	for v, err := range r.VerifyHistory(ctx, from, until, trusted) {
		if err != nil {
			return err
		}
		if err := c.printVerification(ctx, r, v); err != nil {
			return err
		}
		counts[v.State]++
		if n++; n == limit {
			break
		}
	}
	if counts[commit.Bad]+counts[commit.Revoked] > 0 || strict && counts[commit.Signed] < n {
		c.exit = operation.Mismatch.Exit
	}
	var parts []string
	for _, state := range commit.SignatureStates() {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
		}
	}
	c.remark("%s: %s", plural(n, "commit"), firstOf(strings.Join(parts, ", "), "nothing to verify"))
	return nil
}

func (c *cli) printVerification(
	ctx context.Context, r *repo.Repo, v repo.Verification,
) error {
	if c.global.json {
		return c.printJSON(verifyJSON{v.CID.String(), ops.SignatureOf(v.Verdict)})
	}
	message, err := r.Message(ctx, v.Commit.Message)
	if err != nil {
		return err
	}
	title, _, _ := strings.Cut(message, "\n")
	state := c.paint(signatureStyle(v.State), fmt.Sprintf("%-9s", v.State))
	return c.printf("%s  %s  %s  %s  %s\n", state, c.paint(styleYellow, shortCID(v.CID)),
		v.Commit.Time.String()[:len("2006-01-02")], signedBy(v.Verdict), line(title))
}

// signedBy says who signed, or why that does not count.
func signedBy(v commit.Verdict) string {
	who := "(nobody)"
	if !v.Key.IsZero() {
		who = v.Key.Fingerprint()
	}
	if v.Name != "" {
		who = line(v.Name) + " " + who
	}
	if v.Reason != "" {
		who += " (" + line(v.Reason) + ")"
	}
	return who
}

func signatureStyle(s commit.SignatureState) string {
	switch s {
	case commit.Signed:
		return styleGreen
	case commit.Untrusted:
		return styleYellow
	case commit.Unsigned:
		return styleDim
	}
	return styleRed
}

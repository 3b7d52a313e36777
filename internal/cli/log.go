package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

// logJSON is a commit as log and show print it.
type logJSON struct {
	Commit  string     `json:"commit"`
	Parents []string   `json:"parents"`
	Graph   string     `json:"graph"`
	Author  string     `json:"author"`
	Agent   *string    `json:"agent"`
	Task    *string    `json:"task"`
	Time    string     `json:"time"`
	Message string     `json:"message"`
	Nodes   countsJSON `json:"nodes"`
	Edges   countsJSON `json:"edges"`
	// Signature is there where it was asked for.
	Signature *signatureJSON `json:"signature,omitempty"`
}

func jsonLog(
	id ipld.CID, rec *commit.Commit, nodes, edges repo.Counts, signature *commit.Verdict,
) logJSON {
	out := logJSON{
		Commit: id.String(), Parents: jsonCIDs(rec.Parents), Graph: rec.Graph.String(),
		Author: rec.Author, Agent: orNull(rec.Agent), Task: orNull(rec.Task),
		Time: rec.Time.String(), Message: rec.Message,
		Nodes: jsonCounts(nodes), Edges: jsonCounts(edges),
	}
	if signature != nil {
		s := jsonSignature(*signature)
		out.Signature = &s
	}
	return out
}

func (c *cli) logCommand() *cobra.Command {
	var limit int
	var oneline bool
	cmd := &cobra.Command{
		Use:     "log [REV] [flags]",
		GroupID: groupRead,
		Short:   "List commits, newest first",
		Long: "List the commits that a revision reaches, newest first, with the numbers of nodes and edges\n" +
			"that each added (+), changed (~) and removed (-). With --json, one object a line.",
		Example:           "  mnem log\n  mnem log --oneline -n 5\n  mnem log HEAD~1 --json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	c.atFlag(cmd)
	c.signaturesFlag(cmd)
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "at most `N` commits; 0 for all")
	cmd.Flags().BoolVar(&oneline, "oneline", false, "one line a commit")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if limit < 0 {
			return usagef("--limit: %d is below 0", limit)
		}
		rev, err := c.revision(cmd, args)
		if err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			n := 0
			for e, err := range r.Log(ctx, rev) {
				if err != nil {
					return noCommitHint(err)
				}
				if err := c.printLogEntry(e, n == 0, oneline); err != nil {
					return err
				}
				if n++; n == limit {
					break
				}
			}
			return nil
		})
	})
}

// revision returns the revision that an argument or --at names.
func (c *cli) revision(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return c.global.at, nil
	}
	if cmd.Flags().Changed("at") {
		return "", usagef("give the revision as an argument or with --at, not both")
	}
	return args[0], nil
}

func (c *cli) printLogEntry(e repo.LogEntry, first, oneline bool) error {
	signature, err := c.verdict(e.Commit)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printJSON(jsonLog(e.CID, e.Commit, e.Nodes, e.Edges, signature))
	}
	if oneline {
		title, _, _ := strings.Cut(e.Commit.Message, "\n")
		return c.printf("%s %s %s%s\n", c.paint(styleYellow, shortCID(e.CID)),
			e.Commit.Time.String()[:len("2006-01-02")], c.signatureColumn(signature), line(title))
	}
	if !first {
		if err := c.printf("\n"); err != nil {
			return err
		}
	}
	return c.printLogCommit(e.CID, e.Commit, e.Nodes, e.Edges, signature)
}

// signatureColumn is what a signature is worth, as the beginning of a line's last column.
func (c *cli) signatureColumn(v *commit.Verdict) string {
	if v == nil {
		return ""
	}
	return c.paint(signatureStyle(v.State), fmt.Sprintf("%-9s", v.State)) + " "
}

// printLogCommit prints a commit's own lines as text.
func (c *cli) printLogCommit(
	id ipld.CID, rec *commit.Commit, nodes, edges repo.Counts, signature *commit.Verdict,
) error {
	var b strings.Builder
	b.WriteString(c.paint(styleYellow, "commit "+id.String()) + "\n")
	if len(rec.Parents) > 1 {
		b.WriteString("merge  " + strings.Join(jsonCIDs(rec.Parents), " ") + "\n")
	}
	b.WriteString("author " + line(rec.Author) + "\n")
	if rec.Agent != "" {
		b.WriteString("agent  " + line(rec.Agent) + "\n")
	}
	if rec.Task != "" {
		b.WriteString("task   " + line(rec.Task) + "\n")
	}
	b.WriteString("time   " + rec.Time.String() + "\n")
	changed := c.countsLine(nodes, "nodes") + ", " + c.countsLine(edges, "edges")
	b.WriteString("change " + changed + "\n")
	if signature != nil {
		b.WriteString("sign   " + c.paint(signatureStyle(signature.State), string(signature.State)))
		if signature.State != commit.Unsigned {
			b.WriteString(", " + signedBy(*signature))
		}
		b.WriteString("\n")
	}
	if rec.Message != "" {
		b.WriteString("\n")
		for _, l := range strings.Split(strings.TrimRight(rec.Message, "\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+line(l), " ") + "\n")
		}
	}
	return c.printf("%s", b.String())
}

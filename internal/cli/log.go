package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
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
	Stat      *logStatJSON   `json:"stat,omitempty"`
	Profiles  []string       `json:"profiles,omitempty"` // that differ
}

func jsonLog(
	e repo.LogEntry, signature *commit.Verdict,
) logJSON {
	rec := e.Commit
	out := logJSON{
		Commit: e.CID.String(), Parents: jsonCIDs(rec.Parents), Graph: rec.Graph.String(),
		Author: rec.Author, Agent: orNull(rec.Agent), Task: orNull(rec.Task),
		Time: rec.Time.String(), Message: e.Message,
		Nodes: jsonCounts(e.Nodes), Edges: jsonCounts(e.Edges),
	}
	if signature != nil {
		s := jsonSignature(*signature)
		out.Signature = &s
	}
	return out
}

func (c *cli) logCommand() *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:     "log [REV|RANGE] [NODE] [flags]",
		GroupID: groupRead,
		Short:   "List commits, newest first",
		Long: "List the commits that a revision reaches, newest first, with the numbers of nodes and edges\n" +
			"that each added (+), changed (~) and removed (-). A range A..B leaves out what A reaches. With\n" +
			"a NODE, list those that touched it: the node, its mark, an edge of it or the mark of one. A\n" +
			"merge touches what differs from all its parents. A name that is both a revision and a node is\n" +
			"the revision; 'mnem log -- NODE' and key:NAME always mean the node.\n\n" +
			"Several flags leave the commits for which all hold. With --json, one object a line.",
		Example: "  mnem log\n  mnem log --oneline -n 5\n  mnem log HEAD~1 --json\n  mnem log alice\n" +
			"  mnem log HEAD~1.. --stat\n  mnem log --type Person --since 2026-01-01 --grep '(?i)two'",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	c.atFlag(cmd)
	c.signaturesFlag(cmd)
	f.add(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		opt, err := f.options()
		if err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			scope, err := c.scope(ctx, r, cmd, args)
			if err != nil {
				return err
			}
			return c.printLog(ctx, r, scope, opt, &f)
		})
	})
}

func (c *cli) printLog(
	ctx context.Context, r *repo.Repo, scope logScope, opt repo.LogOptions, f *logFlags,
) error {
	opt.Rev = scope.rev
	gone := false
	if scope.node != "" {
		var err error
		if opt.Node, gone, err = c.nodeInLog(ctx, r, scope); err != nil {
			return noCommitHint(err)
		}
	}
	n := 0
	for e, err := range r.History(ctx, opt) {
		if err != nil {
			return noCommitHint(err)
		}
		if err := c.printLogEntry(ctx, e, n == 0, f); err != nil {
			return err
		}
		if n++; n == f.limit {
			break
		}
	}
	if gone && n == 0 {
		return &repo.NotFoundError{What: "revision or node", Name: scope.node}
	}
	return nil
}

func (c *cli) printLogEntry(
	ctx context.Context, e repo.LogEntry, first bool, f *logFlags,
) error {
	signature, err := c.verdict(e.Commit)
	if err != nil {
		return err
	}
	var stat *logStatJSON
	if f.stat {
		if stat, err = logStat(ctx, e); err != nil {
			return err
		}
	}
	if c.global.json {
		out := jsonLog(e, signature)
		out.Stat = stat
		p, err := e.Diff.Profiles(ctx)
		if err != nil {
			return err
		}
		out.Profiles = changedProfiles(p)
		return c.printJSON(out)
	}
	if f.oneline {
		err = c.printf("%s %s %s%s\n", c.paint(styleYellow, shortCID(e.CID)),
			e.Commit.Time.String()[:len("2006-01-02")], c.signatureColumn(signature),
			line(firstLine(e.Message)))
	} else {
		if !first {
			err = c.printf("\n")
		}
		if err == nil {
			err = c.printLogCommit(ctx, e, signature)
		}
		if err == nil && stat != nil {
			err = c.printf("\n")
		}
	}
	if err == nil && stat != nil {
		err = c.printLogStat(stat)
	}
	return err
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
	ctx context.Context, e repo.LogEntry, signature *commit.Verdict,
) error {
	rec := e.Commit
	profiles, err := profilesNote(ctx, e.Diff)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(c.paint(styleYellow, "commit "+e.CID.String()) + "\n")
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
	changed := c.countsLine(e.Nodes, "nodes") + ", " + c.countsLine(e.Edges, "edges") + profiles
	b.WriteString("change " + changed + "\n")
	if signature != nil {
		b.WriteString("sign   " + c.paint(signatureStyle(signature.State), string(signature.State)))
		if signature.State != commit.Unsigned {
			b.WriteString(", " + signedBy(*signature))
		}
		b.WriteString("\n")
	}
	if e.Message != "" {
		b.WriteString("\n")
		for _, l := range strings.Split(strings.TrimRight(e.Message, "\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+line(l), " ") + "\n")
		}
	}
	return c.printf("%s", b.String())
}

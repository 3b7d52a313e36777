package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// showEdges is how many edges show prints in each direction of a node.
const showEdges = 50

func (c *cli) showCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show [REV|NODE] [flags]",
		GroupID: groupRead,
		Short:   "Print a commit with its changes, or a node with its edges",
		Long: "Print a commit and what it changed against its first parent, or a node, as it is at --at,\n" +
			"with the nodes next to it. A name that is both is the revision; key:NAME and id:ID always\n" +
			"mean the node. Without a name, the commit at --at.",
		Example:           "  mnem show\n  mnem show HEAD~1\n  mnem show alice\n  mnem show key:alice --at HEAD~1",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	c.atFlag(cmd)
	c.signaturesFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		name := c.global.at
		if len(args) == 1 {
			name = args[0]
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			if strings.HasPrefix(name, "key:") || strings.HasPrefix(name, "id:") {
				return c.showNode(ctx, r, name)
			}
			s, err := r.Snapshot(ctx, name)
			if errors.Is(err, store.ErrNotFound) && len(args) == 1 && !ops.IsUnborn(err) {
				return c.showNode(ctx, r, name)
			}
			if err != nil {
				return ops.CommitHint(err)
			}
			if len(args) == 1 && cmd.Flags().Changed("at") {
				return usagef("%q is a revision: --at has no meaning", name)
			}
			return c.showCommit(ctx, r, s)
		})
	})
}

// parentOf returns the memory before a commit.
func parentOf(ctx context.Context, r *repo.Repo, s *repo.Snapshot) (*repo.Snapshot, error) {
	var parent ipld.CID
	if rec := s.Commit(); rec != nil && len(rec.Parents) > 0 {
		parent = rec.Parents[0]
	}
	return r.At(ctx, parent)
}

func (c *cli) showCommit(ctx context.Context, r *repo.Repo, s *repo.Snapshot) error {
	parent, err := parentOf(ctx, r, s)
	if err != nil {
		return err
	}
	d := comparison{Diff: parent.Diff(s), from: parent, to: s}
	nodes, edges, err := d.Count(ctx)
	if err != nil {
		return err
	}
	signature, err := c.verdict(s.Commit())
	if err != nil {
		return err
	}
	e := repo.LogEntry{CID: s.CID(), Commit: s.Commit(), Nodes: nodes, Edges: edges, Diff: d.Diff}
	if e.Message, err = s.Message(ctx); err != nil {
		return err
	}
	if c.global.json {
		out := c.stream()
		out.commit(ops.CommitOf(e, signature))
		out.name("diff")
		if err := c.streamDiff(ctx, out, d, diffOptions{}); err != nil {
			return err
		}
		return out.end()
	}
	p, err := e.Diff.Profiles(ctx)
	if err != nil {
		return err
	}
	told := ops.CommitOf(e, signature)
	told.Profiles = ops.ChangedProfiles(p)
	if err := c.printCommitText(told); err != nil {
		return err
	}
	if err := c.printf("\n"); err != nil {
		return err
	}
	_, err = c.printDiff(ctx, d, diffOptions{})
	return err
}

// commit prints the members of a commit.
func (s *jsonStream) commit(v *ops.Commit) {
	for _, m := range []struct {
		name  string
		value any
	}{
		{"commit", v.Commit}, {"parents", v.Parents}, {"graph", v.Graph}, {"author", v.Author},
		{"agent", v.Agent}, {"task", v.Task}, {"time", v.Time}, {"message", v.Message},
		{"nodes", v.Nodes}, {"edges", v.Edges},
	} {
		s.field(m.name, m.value)
	}
	if v.Signature != nil {
		s.field("signature", v.Signature)
	}
}

// shownNodeJSON is a node with its neighbours.
type shownNodeJSON struct {
	*ops.WholeNode
	ops.Buckets
}

func (c *cli) showNode(ctx context.Context, r *repo.Repo, name string) error {
	s, err := c.snapshot(ctx, r)
	if err != nil {
		return err
	}
	w, err := ops.ReadNode(ctx, s, name)
	if err != nil {
		return err
	}
	near, err := ops.ReadBuckets(ctx, s, w.ID, showEdges)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printJSON(shownNodeJSON{w, near})
	}
	// No rendered line is empty: what follows the first empty one is not of the node.
	if err := c.printf("%s\n", nodeText(w)); err != nil {
		return err
	}
	return c.printNeighbors(&ops.Neighbors{Buckets: near})
}

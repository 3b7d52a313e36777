package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// shortLimit is how many items a short list shows.
const shortLimit = 40

type statusJSON struct {
	Branch *string `json:"branch"` // null where HEAD is on none
	Head   *string `json:"head"`
	Stage  string  `json:"stage"`
	Base   *string `json:"base"`
	Staged bool    `json:"staged"`
	itemCountsJSON
	Changes ops.List[ops.Change] `json:"changes"`
	Merge   *mergingJSON         `json:"merge,omitempty"` // in progress on the branch
	Kept    ops.List[ops.Kept]   `json:"kept"`            // for the branch
}

// mergingJSON is a merge in progress in brief.
type mergingJSON struct {
	Verb      string  `json:"verb"`
	Theirs    *string `json:"theirs"`
	Conflicts int     `json:"conflicts"`
	Open      int     `json:"open"`
}

func (c *cli) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		GroupID: groupChange,
		Short:   "Show the branch and what is staged",
		Long: "Show the branch, its newest commit and what a stage changes: A added, M changed, D\n" +
			"removed. It says when the branch has moved since the stage began; committing merges\n" +
			"then. A merge that waits for conflicts to be resolved, and commits kept because they\n" +
			"did not merge, are shown with what to do about them.",
		Example: "  mnem status\n  mnem status --json --stage draft",
		Args:    cobra.NoArgs,
	}
	c.stageFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			st, err := r.Status(ctx, c.stage())
			if err != nil {
				return err
			}
			m, kept, err := unmerged(ctx, r, st.Branch)
			if err != nil {
				return err
			}
			if c.global.json {
				return c.printStatusJSON(ctx, st, m, kept)
			}
			return c.printStatus(ctx, r, st, m, kept)
		})
	})
}

// unmerged returns the merge in progress on a branch, nil for none, and what was kept for it.
func unmerged(
	ctx context.Context, r *repo.Repo, branch string,
) (m *mergingJSON, kept ops.List[ops.Kept], err error) {
	if branch == "" {
		return nil, kept, nil
	}
	switch p, err := r.PendingMerge(ctx, branch); {
	case err == nil:
		m = &mergingJSON{p.Verb, jsonCID(p.Theirs), len(p.Conflicts), p.Open()}
	case !errors.Is(err, store.ErrNotFound):
		return nil, nil, err
	}
	list, err := r.KeptCommits(ctx)
	for _, k := range list {
		if k.Branch == branch {
			kept = append(kept, ops.KeptOf(k))
		}
	}
	return m, kept, err
}

func (c *cli) printStatusJSON(
	ctx context.Context, st *repo.Status, m *mergingJSON, kept ops.List[ops.Kept],
) error {
	changes, nodes, edges, err := ops.ChangesOf(ctx, st.Diff)
	if err != nil {
		return err
	}
	return c.printJSON(statusJSON{
		Branch: orNull(st.Branch), Head: jsonCID(st.Head), Stage: firstOf(c.stage(), repo.DefaultStage),
		Base: jsonCID(st.Base), Staged: st.Staged, itemCountsJSON: itemCountsJSON{nodes, edges}, Changes: changes,
		Merge: m, Kept: kept,
	})
}

// printUnmerged prints what waits for someone to decide about it.
func (c *cli) printUnmerged(m *mergingJSON, kept ops.List[ops.Kept]) error {
	if m != nil {
		next := "'mnem merge --list' shows them"
		if m.Open == 0 {
			next = "end it with 'mnem merge --continue'"
		}
		if err := c.printf("%s in progress: %s, %d open; %s\n", m.Verb,
			plural(m.Conflicts, "conflict"), m.Open, next); err != nil {
			return err
		}
	}
	for _, k := range kept {
		if err := c.printf("kept, as it did not merge: %s; 'mnem merge' it to resolve what conflicts\n",
			line(k.Ref)); err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) printStatus(
	ctx context.Context, r *repo.Repo, st *repo.Status, m *mergingJSON, kept ops.List[ops.Kept],
) error {
	head := "no commit yet"
	if st.Head.Defined() {
		head = "at " + c.paint(styleYellow, shortCID(st.Head))
	}
	where := "on branch " + c.paint(styleCyan, line(st.Branch)) + ", " + head
	if st.Branch == "" {
		where = "HEAD is " + head + " and on no branch"
	}
	if err := c.printf("%s\n", where); err != nil {
		return err
	}
	if err := c.printUnmerged(m, kept); err != nil {
		return err
	}
	if !st.Staged {
		return c.printf("nothing staged\n")
	}
	nodes, edges, err := st.Diff.Count(ctx)
	if err != nil {
		return err
	}
	if err := c.printf("staged in %s: %s, %s\n", line(firstOf(c.stage(), repo.DefaultStage)),
		c.countsLine(nodes, "nodes"), c.countsLine(edges, "edges")); err != nil {
		return err
	}
	if st.Base != st.Head {
		if err := c.printf("the branch has moved since: the stage began at %s and will be merged\n",
			c.paint(styleYellow, shortCID(st.Base))); err != nil {
			return err
		}
	}
	base, err := r.At(ctx, st.Base)
	if err != nil {
		return err
	}
	return c.printShort(ctx, st.Diff, nodes, edges, base)
}

// printShort prints the first items that differ, one a line: nodes by type and name, edges by
// their ends, which before names where the difference does not.
func (c *cli) printShort(
	ctx context.Context, d repo.Diff, nodes, edges repo.Counts, before *repo.Snapshot,
) error {
	names := newLabels(before)
	var rows [][]cell
	row := func(kind repo.ChangeKind, cells ...cell) (more bool) {
		letter, style := changeLetter(kind)
		rows = append(rows, append([]cell{{letter, style}}, cells...))
		return len(rows) < shortLimit
	}
	for n, err := range d.Nodes(ctx) {
		if err != nil {
			return err
		}
		node := n.Node()
		names.Remember(node)
		if !row(n.Kind, cell{"node", ""}, cell{brief(node.Type, typeWidth), styleCyan},
			cell{brief(label(node), nameWidth), styleBold},
			cell{brief(node.Summary, summaryWidth), ""}) {
			break
		}
	}
	for e, err := range d.Edges(ctx) {
		if err != nil {
			return err
		}
		if len(rows) == shortLimit {
			break
		}
		src, dst, err := edgeEnds(ctx, names, e.Edge())
		if err != nil {
			return err
		}
		row(e.Kind, cell{"edge", ""}, cell{brief(e.Edge().Type, typeWidth), styleCyan},
			cell{brief(src, nameWidth), styleBold}, cell{"-> " + brief(dst, nameWidth), ""})
	}
	all := nodes.Added + nodes.Changed + nodes.Removed + edges.Added + edges.Changed + edges.Removed
	if err := c.table(rows); err != nil || all == len(rows) {
		return err
	}
	return c.printf("… and %d more\n", all-len(rows))
}

func edgeEnds(ctx context.Context, names *labels, e *graph.Edge) (src, dst string, err error) {
	if src, err = names.label(ctx, e.Src); err != nil {
		return "", "", err
	}
	dst, err = names.label(ctx, e.Dst)
	return src, dst, err
}

// typeWidth and nameWidth are how many characters of a type and of a key a list shows.
const (
	typeWidth = 24
	nameWidth = 40
)

func changeLetter(kind repo.ChangeKind) (letter, style string) {
	switch kind {
	case repo.Added:
		return "A", styleGreen
	case repo.Removed:
		return "D", styleRed
	}
	return "M", styleYellow
}

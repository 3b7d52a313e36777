package cli

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// maxWatched is how many changed nodes, and edges, of one move are told; more are counted.
const maxWatched = 1000

// watchJSON is one operation as a watch tells it.
type watchJSON struct {
	Op       ipld.CID              `json:"op"`
	Seq      uint64                `json:"seq"`
	Time     graph.Time            `json:"time"`
	Actor    string                `json:"actor"`
	Agent    *string               `json:"agent"` // of a commit that the operation made
	Command  []string              `json:"command"`
	Refs     ops.List[ops.RefMove] `json:"refs"`
	Branches []branchMoveJSON      `json:"branches"`
	Undoes   ipld.CID              `json:"undoes"`
	Redoes   ipld.CID              `json:"redoes"`
}

// branchMoveJSON is what the move of a branch did. Nodes and Edges are absent where there is nothing
// to compare with: the branch is new and did not begin with its first commit.
type branchMoveJSON struct {
	Branch  string       `json:"branch"`
	Commit  string       `json:"commit"`
	Message string       `json:"message"`
	Nodes   *repo.Counts `json:"nodes,omitempty"`
	Edges   *repo.Counts `json:"edges,omitempty"`
	Changes *changedJSON `json:"changes,omitempty"`
}

// changedJSON are the items that a move changed.
type changedJSON struct {
	Nodes []ops.NodeDiff `json:"nodes"`
	Edges []ops.EdgeDiff `json:"edges"`
	More  bool           `json:"more"` // whether there are more, which diff tells
}

// jsonWatched returns an operation, with the items that it changed where diff is given.
func jsonWatched(ctx context.Context, w repo.WatchedOp, diff bool) (*watchJSON, error) {
	op := ops.OpOf(w.OpRecord, nil)
	out := &watchJSON{
		Op: op.Op, Seq: op.Seq, Time: op.Time, Actor: op.Actor, Command: op.Command,
		Refs: op.Refs, Undoes: op.Undoes, Redoes: op.Redoes, Branches: []branchMoveJSON{},
	}
	for _, b := range w.Branches {
		if b.Made && out.Agent == nil {
			out.Agent = orNull(b.To.Commit().Agent)
		}
		move, err := jsonBranchMove(ctx, b, diff)
		if err != nil {
			return nil, err
		}
		out.Branches = append(out.Branches, *move)
	}
	return out, nil
}

func jsonBranchMove(ctx context.Context, b repo.BranchMove, diff bool) (*branchMoveJSON, error) {
	out := &branchMoveJSON{
		Branch: strings.TrimPrefix(string(b.Name), graph.Heads), Commit: b.To.CID().String(),
	}
	var err error
	if out.Message, err = b.To.Message(ctx); err != nil {
		return nil, err
	}
	if b.From == nil {
		return out, nil
	}
	d := b.From.Diff(b.To)
	nodes, edges, err := d.Count(ctx)
	if err != nil {
		return nil, err
	}
	n, e := nodes, edges
	out.Nodes, out.Edges = &n, &e
	if diff {
		out.Changes, err = jsonChanged(ctx, d, ops.NewLabels(b.To, b.From))
	}
	return out, err
}

// jsonChanged returns the items that differ, maxWatched of each kind at most.
func jsonChanged(ctx context.Context, d repo.Diff, names *ops.Labels) (*changedJSON, error) {
	out := &changedJSON{Nodes: []ops.NodeDiff{}, Edges: []ops.EdgeDiff{}}
	for n, err := range atMost(d.Nodes(ctx), maxWatched, &out.More) {
		if err != nil {
			return nil, err
		}
		names.Remember(n.Node())
		out.Nodes = append(out.Nodes, ops.NodeDiffOf(&n))
	}
	for e, err := range atMost(d.Edges(ctx), maxWatched, &out.More) {
		if err != nil {
			return nil, err
		}
		v, err := ops.EdgeDiffOf(ctx, names, &e)
		if err != nil {
			return nil, err
		}
		out.Edges = append(out.Edges, v)
	}
	return out, nil
}

// atMost yields the first n of a sequence, and tells in more whether there are others.
func atMost[V any](all iter.Seq2[V, error], n int, more *bool) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		seen := 0
		for v, err := range all {
			if seen++; seen > n {
				*more = true
				return
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

func (c *cli) printWatched(w *watchJSON) error {
	by := line(w.Actor)
	if w.Agent != nil {
		by += " (" + line(*w.Agent) + ")"
	}
	words := make([]string, len(w.Command))
	for i, word := range w.Command {
		words[i] = line(word)
	}
	err := c.printf("%s %s %s: %s\n", c.paint(styleYellow, strconv.FormatUint(w.Seq, 10)),
		c.paint(styleDim, w.Time.String()), by, strings.Join(words, " "))
	err = firstError(err, c.printMoves(w.Refs))
	for i := range w.Branches {
		err = firstError(err, c.printBranchMove(&w.Branches[i]))
	}
	return err
}

func (c *cli) printBranchMove(m *branchMoveJSON) error {
	text := "  "
	if m.Nodes != nil {
		text += c.countsLine(repo.Counts(*m.Nodes), "nodes") + ", " +
			c.countsLine(repo.Counts(*m.Edges), "edges") + "  "
	}
	if err := c.printf("%s%s\n", text, brief(firstLine(m.Message), summaryWidth)); err != nil {
		return err
	}
	if m.Changes == nil {
		return nil
	}
	for _, n := range m.Changes.Nodes {
		title := "node " + nodeLabel(n.Key, n.ID) + " " + line(n.Type)
		if err := c.printWatchedItem(n.Change, title, n.Fields); err != nil {
			return err
		}
	}
	for _, e := range m.Changes.Edges {
		title := "edge " + line(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " +
			nodeLabel(e.DstKey, e.Dst)
		if e.Key != "" {
			title += " (" + line(string(e.Key)) + ")"
		}
		if err := c.printWatchedItem(e.Change, title, e.Fields); err != nil {
			return err
		}
	}
	if m.Changes.More {
		return c.printf("  and more: see 'mnem diff %s~ %s'\n", m.Commit, m.Commit)
	}
	return nil
}

// printWatchedItem prints one item that changed as diff does, two columns further in.
func (c *cli) printWatchedItem(k repo.ChangeKind, title string, fields []ops.FieldDiff) error {
	sign, style := changeSign(k)
	err := c.printf("  %s\n", c.paint(style, sign+" "+title))
	for _, f := range fields {
		before, after := watchedValue(f.Old), watchedValue(f.New)
		switch {
		case k != repo.Changed && slices.Contains(headFields, f.Field):
			continue
		case k == repo.Changed:
			after = c.paint(styleRed, before) + " -> " + c.paint(styleGreen, after)
		case k == repo.Removed:
			after = before
		}
		err = firstError(err, c.printf("    %s: %s\n", line(f.Field), after))
	}
	return err
}

func watchedValue(v ops.Raw) string {
	if v == nil || string(v) == "null" {
		return "(none)"
	}
	return line(string(v))
}

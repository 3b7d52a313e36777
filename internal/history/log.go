// Package history reads and changes past operations and commits: logs, blame, undo and redo, watching, and the
// titles of commits.
package history

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// LogEntry is one commit of a history with its changes against its first parent.
type LogEntry struct {
	CID    ipld.CID
	Commit *commit.Commit
	// Message is the text of the commit's message; for an erased one the result of core.Repo.Message.
	Message string
	Nodes   state.Counts
	Edges   state.Counts
	Diff    state.Diff
}

// LogOptions select commits that satisfy all given conditions. The zero value selects all that HEAD reaches.
type LogOptions struct {
	Rev     string        // revision or range (see Resolve, Range); "" for HEAD
	Node    graph.ID      // touch this node (clause 16.2); zero for any
	Types   []string      // differ from each parent in a node or edge of one of these types
	Authors []string      // are by one of these
	Agents  []string      // likewise
	Since   graph.OptTime // are not before this time
	Until   graph.OptTime // are before this time
	Grep    *regexp.Regexp
}

// Log yields the commits that a revision reaches, newest first, no commit before one of its children.
func Log(ctx context.Context, r *core.Repo, rev string) iter.Seq2[LogEntry, error] {
	return History(ctx, r, LogOptions{Rev: rev})
}

// History yields the selected commits in the order of Log. It reads all commits, and the changes of those that pass
// the other options. After an error it ends.
func History(ctx context.Context, r *core.Repo, opt LogOptions) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		if opt.Rev == "" {
			opt.Rev = string(graph.Head)
		}
		from, until, err := r.Revisions().Range(ctx, opt.Rev)
		if err != nil {
			yield(LogEntry{}, err)
			return
		}
		for rec, err := range commit.Between(ctx, r.Facts(), from, until) {
			var e LogEntry
			wanted := err != nil
			if err == nil {
				wanted, err = matches(ctx, r, rec, &opt)
			}
			if err == nil && wanted {
				e, err = logEntry(ctx, r, rec.CID, rec.Commit)
			}
			if wanted || err != nil {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// CountBetween returns how many commits one commit reaches and another does not.
func CountBetween(ctx context.Context, r *core.Repo, c, but ipld.CID) (n int, err error) {
	for _, err := range commit.Between(ctx, r.Facts(), []ipld.CID{c}, []ipld.CID{but}) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// matches reports whether a commit is selected. It tests cheap conditions first.
func matches(ctx context.Context, r *core.Repo, e commit.LogEntry, opt *LogOptions) (bool, error) {
	rec := e.Commit
	switch {
	case len(opt.Authors) > 0 && !slices.Contains(opt.Authors, rec.Author),
		len(opt.Agents) > 0 && !slices.Contains(opt.Agents, rec.Agent),
		opt.Since.Given && rec.Time < opt.Since.Time,
		opt.Until.Given && rec.Time >= opt.Until.Time:
		return false, nil
	}
	if opt.Grep != nil {
		text, err := r.Message(ctx, rec.Message)
		if err != nil || !opt.Grep.MatchString(text) {
			return false, err
		}
	}
	if opt.Node.IsZero() && len(opt.Types) == 0 {
		return true, nil
	}
	if !opt.Node.IsZero() {
		ok, err := touched(ctx, r, e.CID, rec, func(d state.Diff) (bool, error) {
			return touchesNode(ctx, d, opt.Node)
		})
		if !ok || err != nil || len(opt.Types) == 0 {
			return ok, err
		}
	}
	return touched(ctx, r, e.CID, rec, func(d state.Diff) (bool, error) { return touchesType(ctx, d, opt.Types) })
}

func logEntry(ctx context.Context, r *core.Repo, c ipld.CID, rec *commit.Commit) (LogEntry, error) {
	e := LogEntry{CID: c, Commit: rec}
	var err error
	if e.Message, err = r.Message(ctx, rec.Message); err != nil {
		return e, err
	}
	var parent ipld.CID
	if len(rec.Parents) > 0 {
		parent = rec.Parents[0]
	}
	before, err := r.At(ctx, parent)
	if err != nil {
		return e, err
	}
	after, err := r.At(ctx, c)
	if err != nil {
		return e, err
	}
	e.Diff = before.Diff(after)
	e.Nodes, e.Edges, err = e.Diff.Count(ctx)
	return e, err
}

// touched reports whether a test holds for what a commit changed against each of its parents, or
// for all it has if it has none. A merge that took one side as it was has touched nothing.
func touched(
	ctx context.Context, r *core.Repo, c ipld.CID, rec *commit.Commit, test func(state.Diff) (bool, error),
) (bool, error) {
	after, err := r.At(ctx, c)
	if err != nil {
		return false, err
	}
	parents := rec.Parents
	if len(parents) == 0 {
		parents = []ipld.CID{{}}
	}
	for _, p := range parents {
		before, err := r.At(ctx, p)
		if err != nil {
			return false, err
		}
		if ok, err := test(before.Diff(after)); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// touchesNode reports whether a node differs, its mark, an edge of it or the mark of one.
func touchesNode(ctx context.Context, d state.Diff, id graph.ID) (bool, error) {
	for _, t := range []struct {
		from, to *prolly.Map
		key      []byte
	}{
		{d.From.Nodes, d.To.Nodes, id[:]},
		{d.From.Marks, d.To.Marks, graph.MarkKey(graph.OnNode, id)},
	} {
		before, err := state.Lookup(ctx, t.from, t.key)
		if err != nil {
			return false, err
		}
		after, err := state.Lookup(ctx, t.to, t.key)
		if before != after || err != nil {
			return err == nil, err
		}
	}
	ok, err := movesEdge(ctx, d, id)
	if ok || err != nil {
		return ok, err
	}
	return editsEdge(ctx, d, id)
}

// movesEdge reports whether an edge of a node came, went or weighs otherwise: the keys of its
// adjacency buckets tell, without a look at any edge or at other nodes.
func movesEdge(ctx context.Context, d state.Diff, id graph.ID) (bool, error) {
	for _, trees := range [][2]*prolly.Map{{d.From.Out, d.To.Out}, {d.From.In, d.To.In}} {
		for _, err := range prolly.DiffPrefix(ctx, trees[0], trees[1], id[:]) {
			if err != nil {
				return false, fmt.Errorf("diff adjacency: %w", err)
			}
			return true, nil
		}
	}
	return false, nil
}

// editsEdge reports whether an edge of a node that stayed has other fields or another mark. What
// came or went is not read.
func editsEdge(ctx context.Context, d state.Diff, id graph.ID) (bool, error) {
	if d.From.Edges.Len() == 0 {
		return false, nil // all of them came
	}
	isOf := func(edge graph.ID) (bool, error) {
		e, _, err := d.To.Edge(ctx, edge)
		return e != nil && (e.Src == id || e.Dst == id), err
	}
	for c, err := range prolly.Diff(ctx, d.From.Edges, d.To.Edges) {
		if err != nil {
			return false, fmt.Errorf("diff edges: %w", err)
		}
		if c.Old == nil || c.New == nil || len(c.Key) != graph.IDLen {
			continue
		}
		if ok, err := isOf(graph.ID(c.Key)); ok || err != nil {
			return ok, err
		}
	}
	marks, err := d.MarkIDs(ctx, graph.OnEdge)
	if err != nil {
		return false, err
	}
	for _, edge := range marks {
		if ok, err := isOf(edge); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// touchesType reports whether a node or edge that differs, or whose mark does, has one of some types before or after.
func touchesType(ctx context.Context, d state.Diff, types []string) (bool, error) {
	for id, err := range d.Ids(ctx, graph.OnNode) {
		if err != nil {
			return false, err
		}
		for _, s := range []*state.State{d.From, d.To} {
			n, _, err := s.Shown(ctx, id)
			if err != nil || n != nil && slices.Contains(types, n.Type) {
				return err == nil, err
			}
		}
	}
	for id, err := range d.Ids(ctx, graph.OnEdge) {
		if err != nil {
			return false, err
		}
		for _, s := range []*state.State{d.From, d.To} {
			e, _, err := s.Edge(ctx, id)
			if err != nil || e != nil && slices.Contains(types, e.Type) {
				return err == nil, err
			}
		}
	}
	return false, nil
}

package branching

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// DiffRequest asks what differs between two commits, or what is staged.
type DiffRequest struct {
	A      string   `op:",arg,remote" doc:"a branch, tag, CID or any other revision, or a range A..B"`
	B      string   `op:",arg,remote" complete:"rev" doc:"a branch, tag, CID or any other revision"`
	Staged bool     `op:",remote" doc:"show what is staged"`
	Stat   bool     `op:",remote" doc:"numbers for each type instead of items"`
	Type   []string `op:",remote" doc:"only nodes and edges of this {TYPE}" note:" (repeatable)"`
	ByWord
	verb.OnStage
	verb.Params
}

// ByWord is of verbs that print differences.
type ByWord struct {
	WordDiff bool `op:"word-diff" doc:"mark the words that changed, [-removed-] and {+added+}"`
}

// Compared names the two sides of a difference.
type Compared struct {
	From  ipld.CID `json:"from" shape:"null"`
	To    ipld.CID `json:"to" shape:"null"`
	Stage string   `json:"stage,omitempty"`
}

// Differed lists the differences of two states, item by item.
type Differed struct {
	Compared
	Nodes    verb.Each[state.NodeDiff] `json:"nodes"`
	Edges    verb.Each[EdgeDiff]       `json:"edges"`
	Counts   ItemCounts                `json:"counts"`          // once the items were given
	Title    string                    `json:"title,omitempty"` // of all that differs; in diff alone
	Profiles *rank.ProfilesDiff        `json:"profiles,omitempty"`
}

// DifferedStat counts by type what differs.
type DifferedStat struct {
	Compared
	Stat
	Counts ItemCounts `json:"counts"`
}

// ItemCounts count nodes and edges.
type ItemCounts struct {
	Nodes state.Counts `json:"nodes"`
	Edges state.Counts `json:"edges"`
}

// EdgeDiff is one edge that differs, with the names of its ends.
type EdgeDiff struct {
	state.EdgeDiff
	SrcKey verb.Text `json:"src_key"`
	DstKey verb.Text `json:"dst_key"`
}

// Diff shows what differs.
var Diff = verb.Define(verb.Spec{
	Command: "diff", Right: verb.NoRight, Confined: true, Usage: "[A [B]] [flags]", Args: "[A] [B]", Group: "read", Effect: verb.Reads,
	Complete: "rev",
	Title:    "Show the differences between two commits, or what is staged",
	Doc: "Show the nodes and edges that were added (+), changed (~) or removed (-), with their fields\n" +
		"and properties.\n\n" +
		"  mnem diff A B      from A to B (also A..B)\n" +
		"  mnem diff A        from A to HEAD\n" +
		"  mnem diff          what is staged, or else from HEAD~1 to HEAD\n" +
		"  mnem diff --staged from the commit that the stage builds on to the stage",
	Example: "  mnem diff\n  mnem diff HEAD~1 HEAD --type Person\n  mnem diff HEAD~1 --stat\n" +
		"  mnem diff --staged --json",
	Answers: []any{Differed{}, DifferedStat{}},
}, diff)

func (q *DiffRequest) Check() error {
	if (q.Staged || q.Given("stage")) && q.A != "" {
		return verb.Between("%s and %s compare with the stage's own base: give no revisions", "staged", "stage")
	}
	return nil
}

func diff(ctx context.Context, s *verb.Service, q *DiffRequest) (any, error) {
	c, err := q.compare(ctx, s)
	if err != nil {
		return nil, verb.CommitHint(err)
	}
	if q.Stat {
		return c.stat(ctx, q.Type)
	}
	out, err := c.differed(ctx, q.Type)
	if err == nil && len(q.Type) == 0 {
		out.Title, err = c.title(ctx, s)
	}
	return out, err
}

// title returns what the difference is about, as HEAD is now.
func (c *comparison) title(ctx context.Context, s *verb.Service) (string, error) {
	now, err := s.At(ctx, string(graph.Head))
	if err != nil {
		return "", err
	}
	nodes, edges, err := c.Count(ctx)
	if err != nil {
		return "", err
	}
	return history.Titler{Now: now}.Commit(ctx, c.Diff, nodes, edges)
}

type comparison struct {
	state.Diff
	from, to *core.Snapshot // to is nil for a stage
	stage    string         // "" for none
}

// compare finds out what the names mean.
func (q *DiffRequest) compare(ctx context.Context, s *verb.Service) (c comparison, err error) {
	a, b := q.A, q.B
	if from, to, ok := strings.Cut(a, ".."); ok && b == "" {
		a, b = cmp.Or(from, string(graph.Head)), to
	}
	if a != "" {
		return compareRevs(ctx, s.Repo, a, cmp.Or(b, string(graph.Head)))
	}
	status, err := s.Repo.Stages().Status(ctx, s.Stage)
	if err != nil {
		return c, err
	}
	if status.Staged || q.Staged || q.Given("stage") {
		from, err := s.Repo.At(ctx, status.Base)
		return comparison{Diff: status.Diff, from: from, stage: s.Repo.Stages().Name(s.Stage)}, err
	}
	to, err := s.Repo.SnapshotAsked(ctx, string(graph.Head))
	if err != nil {
		return c, err
	}
	return compareParent(ctx, s.Repo, to)
}

func compareParent(ctx context.Context, r *core.Repo, to *core.Snapshot) (c comparison, err error) {
	from, err := ParentOf(ctx, r, to)
	if err != nil {
		return c, err
	}
	return comparison{Diff: from.Diff(to), from: from, to: to}, nil
}

// ParentOf returns the memory before a commit.
func ParentOf(ctx context.Context, r *core.Repo, s *core.Snapshot) (*core.Snapshot, error) {
	var parent ipld.CID
	if rec := s.Commit(); rec != nil && len(rec.Parents) > 0 {
		parent = rec.Parents[0]
	}
	return r.At(ctx, parent)
}

func compareRevs(ctx context.Context, r *core.Repo, a, b string) (c comparison, err error) {
	from, err := r.Snapshot(ctx, a)
	if err != nil {
		return c, err
	}
	to, err := r.Snapshot(ctx, b)
	if err != nil {
		return c, err
	}
	return comparison{Diff: from.Diff(to), from: from, to: to}, nil
}

func (c *comparison) compared() Compared {
	out := Compared{From: c.from.CID(), Stage: c.stage}
	if c.to != nil {
		out.To = c.to.CID()
	}
	return out
}

// labels names the ends of edges. The stage's own nodes have no snapshot: those it adds are named
// from the difference.
func (c *comparison) labels() *reading.Labels {
	if c.to == nil {
		return reading.NewLabels(c.from)
	}
	return reading.NewLabels(c.to, c.from)
}

func (c *comparison) stat(ctx context.Context, types []string) (*DifferedStat, error) {
	s, err := stat(ctx, c.Diff, types)
	if err != nil {
		return nil, err
	}
	out := &DifferedStat{Compared: c.compared(), Stat: *s}
	for _, t := range s.NodeTypes {
		out.Counts.Nodes.Add(t.Counts)
	}
	for _, t := range s.EdgeTypes {
		out.Counts.Edges.Add(t.Counts)
	}
	return out, nil
}

// differed returns the difference of nodes and edges of some types, or of all and of profiles. Its items
// must be taken in their order, nodes before edges, while the repository is open.
func (c *comparison) differed(ctx context.Context, types []string) (*Differed, error) {
	out := &Differed{Compared: c.compared()}
	if len(types) == 0 {
		var err error
		if out.Profiles, err = rank.DiffProfiles(ctx, c.Diff); err != nil {
			return nil, err
		}
	}
	wants := func(typ string) bool { return len(types) == 0 || slices.Contains(types, typ) }
	names := c.labels()
	out.Nodes = func(yield func(state.NodeDiff) error) error {
		for n, err := range c.Diff.Nodes(ctx) {
			if err != nil {
				return err
			}
			if !wants(n.Type) {
				continue
			}
			out.Counts.Nodes.Count(n.Kind)
			names.Remember(n.Node())
			if err := yield(n); err != nil {
				return err
			}
		}
		return nil
	}
	out.Edges = func(yield func(EdgeDiff) error) error {
		for e, err := range c.Diff.Edges(ctx) {
			if err != nil {
				return err
			}
			if !wants(e.Type) {
				continue
			}
			out.Counts.Edges.Count(e.Kind)
			one, err := EdgeDiffOf(ctx, names, &e)
			if err == nil {
				err = yield(one)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return out, nil
}

// EdgeDiffOf returns an edge that differs with the names of its ends.
func EdgeDiffOf(ctx context.Context, names *reading.Labels, e *state.EdgeDiff) (out EdgeDiff, err error) {
	for i, f := range e.Fields {
		if f.Field == "weight" {
			e.Fields[i].Old, e.Fields[i].New = weightValue(f.Old), weightValue(f.New)
		}
	}
	out.EdgeDiff = *e
	if out.SrcKey, err = names.Key(ctx, e.Src); err != nil {
		return out, err
	}
	out.DstKey, err = names.Key(ctx, e.Dst)
	return out, err
}

// weightValue turns a weight into the number that change lines have.
func weightValue(v *ipld.Value) *ipld.Value {
	if v == nil || v.Kind() != ipld.Int {
		return v
	}
	number, err := ipld.ParseJSON([]byte(verb.Weight(v.Int()).String()))
	if err != nil {
		return v
	}
	return &number
}

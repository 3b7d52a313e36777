package branching

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
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

// showEdges is how many edges show prints in each direction of a node.
const showEdges = 50

// ShowRequest asks for one thing that is stored.
type ShowRequest struct {
	Name  string `op:",arg,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title; an edge by id; a revision; a CID"`
	Field string `op:",remote" doc:"print the value of this {FIELD} of a node alone; with --raw, what is at this path of the block, as a/0/b, over links" remote:"the value of this field of a node alone; with raw, what is at this path of the block, as a/0/b, over links"`
	Now   string `op:",remote" doc:"{TIME} that the importance is of, RFC 3339 or YYYY-MM-DD (default: now)"`

	Importance bool `op:",remote,varies" doc:"print the effective importance of a node too"`
	Raw        bool `op:",remote,wide" doc:"print the stored block: its bytes, with --json as DAG-JSON" remote:"the stored block as DAG-JSON"`
	ByWord
	verb.AtRevision
	verb.Marks
	Signed
	verb.Params
}

// ShownCommit is a commit with its changes.
type ShownCommit struct {
	Commit
	Diff *Differed `json:"diff"`
}

// ShownNode is a node with its edges.
type ShownNode struct {
	*reading.WholeNode
	reading.Buckets
	Importance *memory.Effective `json:"importance,omitempty"` // in units of 2^-16, if it was asked for
	Now        graph.OptTime     `json:"now,omitzero"`
}

// Block is one block.
type Block struct {
	CID  ipld.CID        `json:"cid"`
	Kind verb.Text       `json:"kind"` // of its record, null where it is none
	Size int             `json:"size"`
	Data json.RawMessage `json:"data"`

	Raw []byte `json:"_raw,omitempty"` // where the bytes were asked for
}

// Show prints anything that is stored.
var Show = verb.Define(verb.Spec{
	Command: "show", Right: verb.NoRight, Confined: true, Usage: "[THING] [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Complete: "rev",
	Title:    "Show a memory, a commit, or anything else that is stored",
	Doc: "Print a memory with its links, a commit with what it changed, or anything else that is stored.\n" +
		"THING is one of these; without one it is the commit at --at. What a name means first counts:\n\n" +
		"  revision  HEAD~1, main, a tag: the commit and what it changed against its first parent\n" +
		"  node      by key, id, or at least 4 hex digits that only its id begins with; or by a text that\n" +
		"            means one node for sure: its exact summary, or several words that it alone has all\n" +
		"            of; key:NAME and id:ID always mean a node, as anything does with --at\n" +
		"  edge      by id, or its first digits\n" +
		"  CID       an operation as 'mnem op show' prints it; a receipt or any other block as DAG-JSON;\n" +
		"            at least 4 digits are enough, and bafyrei or bafkrei before them may be left out\n\n" +
		"--field prints the value of one field of a node and nothing else: text as it is (escaped only on\n" +
		"a terminal), other values as JSON. Fields are those of the JSON form; a property is props.NAME.\n\n" +
		"A forgotten node is not found without --include forgotten. Other marked ones are printed with\n" +
		"a line that says so.\n\n" +
		"--importance prints the effective importance at --now and what it is made of: the importance\n" +
		"that the node states, how often it was said again or used, its age by the half-life of its\n" +
		"type, and its links. It is computed when you ask and stored nowhere.\n\n" +
		"--raw prints the block itself, with --field what is at a path of names and positions from it, over\n" +
		"links: graph/nodes is the root of a commit's tree of nodes.",
	Example: "  mnem show\n  mnem show HEAD~1\n  mnem show alice\n  mnem show 'alice leads infra'\n" +
		"  mnem show alice --field props.role\n  mnem show key:alice --at HEAD~1 --json\n  mnem show bob --include forgotten\n" +
		"  mnem show --raw HEAD >commit.cbor\n  mnem show --raw HEAD --field graph/nodes",
	Answers: []any{ShownNode{}, ShownCommit{}, reading.Edge{}, Op{}, Block{}, verb.FieldValue{}},
}, show)

func (q *ShowRequest) Check() error {
	_, err := q.States()
	switch {
	case !q.Raw && q.Given("field") && reading.CheckField(q.Field) != nil:
		return reading.CheckField(q.Field)
	case q.Importance && q.Field != "":
		return verb.Exclude("field", "importance")
	case q.Raw && (q.Importance || len(q.Include) > 0):
		return verb.Usagef("a stored block has no marks or importance")
	case q.Now != "" && !q.Importance:
		return verb.Between("%s is for %s", "now", "importance")
	case q.Name == "" && q.ofNode():
		return verb.Usagef("show: THING is missing")
	}
	return err
}

// ofNode reports whether the request has fields that only nodes answer.
func (q *ShowRequest) ofNode() bool {
	return q.Field != "" || q.Importance || len(q.Include) > 0
}

func show(ctx context.Context, s *verb.Service, q *ShowRequest) (any, error) {
	if q.Raw {
		return verb.OneOf(q.block(ctx, s))
	}
	onlyNode := q.ofNode() || strings.HasPrefix(q.Name, "key:") || strings.HasPrefix(q.Name, "id:")
	var commit *core.Snapshot
	var noRevision error
	if !onlyNode {
		commit, noRevision = s.Repo.SnapshotAsked(ctx, cmp.Or(q.Name, q.At))
		switch {
		case noRevision == nil && (q.Name == "" || !q.Given("at")):
			return verb.OneOf(q.commit(ctx, s, commit))
		case noRevision != nil && (q.Name == "" || verb.IsUnborn(noRevision) || !unnamed(noRevision)):
			return nil, verb.CommitHint(noRevision)
		}
	}
	answer, err := q.item(ctx, s)
	switch {
	case err == nil || !unnamed(err) || onlyNode:
		return answer, err
	case commit != nil:
		return nil, verb.Between("\""+strings.ReplaceAll(q.Name, "%", "%%")+"\" is a revision: %s has no meaning", "at")
	}
	id, data, failed := s.Repo.Storage().Block(ctx, q.Name)
	if failed == nil {
		return recordOf(ctx, s, id, data)
	}
	if _, notCID := ipld.ParseCID(q.Name); notCID == nil || !unnamed(failed) {
		return nil, failed
	}
	if strings.ContainsAny(q.Name, "~^") || strings.Contains(q.Name, "@{") || strings.HasPrefix(q.Name, "refs/") {
		err = noRevision
	}
	return nil, err
}

// unnamed reports whether an error says that there is nothing of a name.
func unnamed(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, state.ErrInvalid)
}

// item returns a node with its edges, or a field of it, or an edge.
func (q *ShowRequest) item(ctx context.Context, s *verb.Service) (any, error) {
	let, err := q.States()
	if err != nil {
		return nil, err
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	see := reading.Visible{Snapshot: snap, Let: let}
	w, err := reading.ReadNode(ctx, see, q.Name)
	var hidden *state.NotFoundError
	switch {
	case errors.As(err, &hidden) && hidden.Hidden == "":
		if e, failed := reading.ReadEdge(ctx, see, q.Name); failed == nil || !unnamed(failed) {
			return verb.OneOf(e, failed)
		}
		return nil, err
	case err != nil:
		return nil, err
	case q.Field != "":
		return verb.OneOf(w.Field(q.Field, q.Name))
	}
	out := &ShownNode{WholeNode: w}
	if out.Buckets, err = see.Buckets(ctx, w.ID, showEdges); err != nil || !q.Importance {
		return verb.OneOf(out, err)
	}
	now, err := s.Now(q.Now)
	if err != nil {
		return nil, err
	}
	e, err := memory.Importance(ctx, snap, w.ID, now, memory.ImportanceOptions{})
	out.Importance, out.Now = &e, graph.At(now)
	return verb.OneOf(out, err)
}

func (q *ShowRequest) commit(ctx context.Context, s *verb.Service, snap *core.Snapshot) (*ShownCommit, error) {
	c, err := compareParent(ctx, s.Repo, snap)
	if err != nil {
		return nil, err
	}
	e := history.LogEntry{CID: snap.CID(), Commit: snap.Commit(), Diff: c.Diff}
	if e.Nodes, e.Edges, err = c.Count(ctx); err != nil {
		return nil, err
	}
	if e.Message, err = snap.Message(ctx); err != nil {
		return nil, err
	}
	verdict, err := q.verdict(s, e.Commit)
	if err != nil {
		return nil, err
	}
	d, err := c.differed(ctx, nil)
	if err != nil {
		return nil, err
	}
	out := &ShownCommit{Commit: *CommitOf(e, verdict), Diff: d}
	if s.Human {
		out.Profiles = ChangedProfiles(d.Profiles)
	}
	return out, nil
}

// block returns the stored block of a revision, a CID or a node, or what is at a path from it.
func (q *ShowRequest) block(ctx context.Context, s *verb.Service) (*Block, error) {
	name := cmp.Or(q.Name, q.At, string(graph.Head))
	id, data, err := findBlock(ctx, s.Repo, name)
	if err != nil && q.Name != "" && unnamed(err) {
		snap, failed := s.At(ctx, q.At)
		if failed != nil {
			return nil, failed
		}
		w, failed := reading.ReadNode(ctx, reading.Visible{Snapshot: snap}, q.Name)
		if failed != nil {
			return nil, failed
		}
		id, data, err = s.Repo.Storage().Block(ctx, w.CID.String())
	}
	switch {
	case err != nil:
		return nil, err
	case q.Field != "":
		return atPath(ctx, s.Repo, id, q.Field)
	case s.Human:
		return &Block{CID: id, Size: len(data), Raw: data}, nil
	}
	return blockOf(id, data)
}

// recordOf returns a block as what it is the record of.
func recordOf(ctx context.Context, s *verb.Service, id ipld.CID, data []byte) (any, error) {
	if id.Codec() == ipld.DagCBOR && ipld.RecordKind(data) == "operation" {
		e, err := s.Repo.OpLog().Find(ctx, id.String())
		if !unnamed(err) {
			return verb.OneOf(OpOf(e, nil), err)
		}
	}
	return verb.OneOf(blockOf(id, data))
}

func blockOf(id ipld.CID, data []byte) (*Block, error) {
	out := &Block{CID: id, Size: len(data)}
	var b bytes.Buffer
	if err := ipld.DAGJSON(&b, id, data); err != nil {
		return nil, err
	}
	if out.Data = b.Bytes(); id.Codec() == ipld.DagCBOR {
		out.Kind = verb.Text(ipld.RecordKind(data))
	}
	return out, nil
}

// atPath returns what is at a path from a block, and the last block on the way.
func atPath(ctx context.Context, r *core.Repo, from ipld.CID, path string) (*Block, error) {
	out := &Block{}
	get := func(ctx context.Context, id ipld.CID) ([]byte, error) {
		_, data, err := r.Storage().Block(ctx, id.String())
		if out.Size, out.Kind = len(data), ""; id.Codec() == ipld.DagCBOR && err == nil {
			out.Kind = verb.Text(ipld.RecordKind(data))
		}
		return data, err
	}
	var b bytes.Buffer
	var err error
	out.CID, err = ipld.Follow(ctx, get, from, path, &b)
	if errors.Is(err, ipld.ErrPath) {
		return nil, verb.Hint(fmt.Errorf("%w: %w", store.ErrNotFound, err),
			fmt.Sprintf("'mnem show %s' prints what there is", out.CID), "")
	}
	if err != nil {
		return nil, err
	}
	out.Data = b.Bytes()
	return out, nil
}

// findBlock returns the block of a CID, else of a revision, else of the prefix of a CID.
func findBlock(ctx context.Context, r *core.Repo, name string) (ipld.CID, []byte, error) {
	if _, err := ipld.ParseCID(name); err == nil {
		return r.Storage().Block(ctx, name)
	}
	commit, err := r.Revisions().Resolve(ctx, name)
	if err == nil {
		return r.Storage().Block(ctx, commit.String())
	}
	if name == string(graph.Head) || !errors.Is(err, store.ErrNotFound) {
		return commit, nil, verb.CommitHint(err)
	}
	return r.Storage().Block(ctx, name)
}

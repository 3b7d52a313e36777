package branching

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

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

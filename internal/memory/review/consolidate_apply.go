package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// MinPick is how many digits of a proposal's id name it at least.
const MinPick = 4

// ConsolidateResult describes the result of applying proposals.
type ConsolidateResult struct {
	*core.CommitResult
	Proposals *Proposals // as they were found
	Picked    []Proposal // those that were applied or declined
	Tidied
}

// Tidied are the nodes that proposals changed.
type Tidied struct {
	Marked   []graph.ID `json:"marked"`   // newly marked nodes
	Unmarked []graph.ID `json:"unmarked"` // of contradictions that are settled by it
	Retagged []graph.ID `json:"retagged"` // memories with a changed spelling of a tag
}

// Consolidate applies proposals in one commit: those picked by their ids or prefixes of at least MinPick digits, all if
// picks is nil. It computes them again from the branch's newest commit. An id is the hash of a proposal's subject, so a
// pick never applies another proposal than the one shown, whatever was written since. An id that no longer exists is a
// *state.NotFoundError, an ambiguous prefix a *state.AmbiguousError. Nothing is removed: all changes but those of tags
// are marks.
func Consolidate(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, req ConsolidateRequest, picks []string,
) (*ConsolidateResult, error) {
	return consolidate(ctx, r, opt, req, "consolidate", picks, func(k *memory.Marker, res *ConsolidateResult) error {
		t := &tidier{Marker: k, res: res}
		for i := range res.Picked {
			if err := t.apply(&res.Picked[i]); err != nil {
				return fmt.Errorf("proposal %s: %w", res.Picked[i].ID, err)
			}
		}
		return t.writeTags()
	})
}

// Decline records in one commit that proposals are not wanted: they do not come again until their evidence changes.
// Each is stored as a node of the type "proposal" with the key proposal/ID, which records its subject and is marked
// retired; removing the mark lets it come again. picks are as in Consolidate, at least one.
func Decline(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, req ConsolidateRequest, picks []string,
) (*ConsolidateResult, error) {
	if len(picks) == 0 {
		return nil, state.Invalidf("proposals: name at least one by its id")
	}
	return consolidate(ctx, r, opt, req, "decline", picks, func(k *memory.Marker, res *ConsolidateResult) error {
		for i := range res.Picked {
			decline(k, &res.Picked[i])
		}
		return nil
	})
}

// consolidate commits what fn does about the proposals that picks name. The message of the commit begins with verb.
func consolidate(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, req ConsolidateRequest, verb string, picks []string,
	fn func(*memory.Marker, *ConsolidateResult) error,
) (*ConsolidateResult, error) {
	var res *ConsolidateResult
	done, err := memory.DecideMarks(ctx, r, opt, true, func(k *memory.Marker) (message string, err error) {
		res = new(ConsolidateResult)
		if res.Proposals, err = Propose(ctx, k.Snapshot, req); err != nil {
			return "", err
		}
		if res.Picked, err = pick(res.Proposals.List, picks); err != nil {
			return "", err
		}
		if err = fn(k, res); err != nil {
			return "", err
		}
		res.Marked, res.Unmarked = k.Result.Marked, k.Result.Unmarked
		return verb + ": " + countKinds(res.Picked), nil
	})
	if err != nil {
		return nil, err
	}
	res.CommitResult = done.CommitResult
	return res, nil
}

// pick returns the proposals that picks name, each once and in their own order.
func pick(list []Proposal, picks []string) ([]Proposal, error) {
	if picks == nil { // a reader of both memories must decide whether one replaces the other
		return slices.DeleteFunc(slices.Clone(list), func(p Proposal) bool { return p.Kind == ProposeUpdate }), nil
	}
	want := make([]bool, len(list))
	for _, name := range picks {
		i, err := find(list, name)
		if err != nil {
			return nil, err
		}
		want[i] = true
	}
	var out []Proposal
	for i, ok := range want {
		if ok {
			out = append(out, list[i])
		}
	}
	return out, nil
}

// find returns the index of the proposal that an id or a prefix of one names.
func find(list []Proposal, name string) (int, error) {
	at := -1
	for i := range list {
		if len(name) < MinPick || !strings.HasPrefix(list[i].ID, name) {
			continue
		}
		if at >= 0 {
			return 0, &state.AmbiguousError{What: "proposal", Name: name}
		}
		at = i
	}
	if at < 0 {
		return 0, &state.NotFoundError{What: "proposal", Name: name}
	}
	return at, nil
}

func countKinds(list []Proposal) string {
	counts := make(map[ProposalKind]int)
	for i := range list {
		counts[list[i].Kind]++
	}
	var parts []string
	for _, kind := range ProposalKinds() {
		if n := counts[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	return strings.Join(parts, ", ")
}

type tidier struct {
	*memory.Marker
	res    *ConsolidateResult
	respel []*Proposal // of tags
}

func (t *tidier) apply(p *Proposal) error {
	req := memory.MarkRequest{Reason: "consolidate: " + p.Why}
	switch p.Kind {
	case ProposeExpired:
		req.State = graph.Expired
	case ProposeDuplicate:
		req.State = graph.Superseded
		for _, id := range p.Nodes[1:] {
			if err := t.One(req, id.String(), id, p.Nodes[0]); err != nil {
				return err
			}
		}
		return nil
	case ProposeUpdate:
		req.State = graph.Superseded
		return t.One(req, p.Nodes[1].String(), p.Nodes[1], p.Nodes[0])
	case ProposeContradiction:
		req.State, req.By = graph.Contradicted, p.Nodes[1].String()
		return t.Contradict(req, p.Nodes[0].String(), p.Nodes[0], p.Nodes[1])
	case ProposeTag:
		t.respel = append(t.respel, p)
		return nil
	case ProposeLow:
		req.State = graph.Retired
	case ProposeIsolated:
		req.State = graph.Stale
	}
	return t.One(req, p.Nodes[0].String(), p.Nodes[0], graph.ID{})
}

// writeTags spells tags as the proposals want, memory by memory.
func (t *tidier) writeTags() error {
	to := make(map[string]string)
	var nodes []graph.ID
	for _, p := range t.respel {
		for _, s := range p.Spellings {
			to[s] = p.Tag
		}
		nodes = append(nodes, p.Nodes...)
	}
	slices.SortFunc(nodes, graph.ID.Compare)
	for _, id := range slices.Compact(nodes) {
		n, _, err := t.Snapshot.Node(t.Context, id)
		if err == nil {
			err = t.retag(n, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// retag gives a memory the spellings that stay. Edges to the tag nodes of the other spellings are replaced and marked
// superseded.
func (t *tidier) retag(n *graph.Node, to map[string]string) error {
	var tags []string
	var others []ipld.Value // values that are not text stay
	list, _ := ipld.FindEntry(n.Props, memory.PropTags)
	for _, item := range list.List() {
		if item.Kind() != ipld.String {
			others = append(others, item)
			continue
		}
		tag := item.Text()
		if stays, ok := to[tag]; ok {
			if err := t.relink(n.ID, tag, stays); err != nil {
				return err
			}
			tag = stays
		}
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	var values []ipld.Value
	for _, tag := range slices.Compact(tags) {
		values = append(values, ipld.StringValue(tag))
	}
	values = append(values, others...)
	t.Changes = append(t.Changes, graph.Change{Node: &graph.NodeChange{ID: n.ID,
		Props: []ipld.Entry{{Key: memory.PropTags, Value: ipld.ListValue(values...)}}}})
	t.res.Retagged = append(t.res.Retagged, n.ID)
	return nil
}

func (t *tidier) relink(id graph.ID, tag, stays string) error {
	old, next := memory.TagKey(tag), memory.TagKey(stays)
	if old == "" || next == "" || old == next {
		return nil
	}
	for e, err := range t.Snapshot.Adjacency().Bucket(t.Context, id, adjacency.Out, memory.EdgeTagged, nil) {
		if err != nil {
			return err
		}
		if e.Other != graph.NodeID(old) {
			continue
		}
		if _, _, err := t.Snapshot.Node(t.Context, graph.NodeID(next)); memory.IsMissing(err) {
			summary := stays
			t.Changes = append(t.Changes, graph.Change{Node: &graph.NodeChange{Key: next, Type: memory.TypeTag,
				Summary: &summary}})
		} else if err != nil {
			return err
		}
		t.Changes = append(t.Changes,
			graph.Change{Edge: &graph.EdgeChange{Type: memory.EdgeTagged, Src: graph.Ref{ID: id},
				Dst: graph.Ref{Key: next}}},
			graph.Change{Mark: &graph.MarkChange{On: graph.MarkRef{Edge: &graph.EdgeRef{ID: e.Edge}},
				State: graph.Superseded, By: graph.Ref{Key: next},
				Reason: "consolidate: one tag in several spellings"}})
	}
	return nil
}

// decline records that a proposal is not wanted. It does not copy texts of memories, since they may be erased one day.
func decline(k *memory.Marker, p *Proposal) {
	key := keyProposal + p.ID
	summary := "declined: " + string(p.Kind)
	nodes := []ipld.Value{}
	for _, id := range p.Nodes[:min(len(p.Nodes), maxNamed)] {
		nodes = append(nodes, ipld.StringValue(id.String()))
	}
	k.Changes = append(k.Changes,
		graph.Change{Node: &graph.NodeChange{Key: key, Type: TypeProposal, Summary: &summary,
			Props: []ipld.Entry{{Key: "nodes", Value: ipld.ListValue(nodes...)}}}})
	k.Set(memory.MarkRequest{State: graph.Retired, Reason: "declined"}, graph.NodeID(key), graph.ID{})
}

package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// MaxMarked is the largest number of nodes that one request marks.
const MaxMarked = 10_000

// ManyNodes is from how many nodes on deciding about them takes longer than other writers should wait.
const ManyNodes = 256

// StateError is returned when a node is in a state that a verb does not replace, since more would
// be lost than said. errors.Is(err, state.ErrInvalid) holds.
type StateError struct {
	Node  graph.ID
	Name  string // of the node, as the caller gave it
	State graph.State
	By    graph.ID // the node that caused it, zero for none
	Want  graph.State
}

func (e *StateError) Error() string {
	by := ""
	if !e.By.IsZero() {
		by = " by " + e.By.String()
	}
	return fmt.Sprintf("%q is %s%s: it cannot become %s before that is taken off", e.Name, e.State,
		by, e.Want)
}

// Is reports whether target is state.ErrInvalid.
func (e *StateError) Is(target error) bool { return target == state.ErrInvalid }

// EdgeError is returned if an edge is named to be marked: the verbs mark nodes. errors.Is(err,
// store.ErrNotFound) holds.
type EdgeError struct {
	Name string // as the caller gave it
	Edge *graph.Edge
}

func (e *EdgeError) Error() string {
	return fmt.Sprintf("no node %q: it is an edge, of type %s from %s to %s, and nodes are what is "+
		"marked", e.Name, e.Edge.Type, e.Edge.Src, e.Edge.Dst)
}

// Is reports whether target is store.ErrNotFound.
func (e *EdgeError) Is(target error) bool { return target == store.ErrNotFound }

// MarkRequest asks for nodes to be marked.
type MarkRequest struct {
	State graph.State
	Nodes []string // names as of core.Snapshot.Name, 1 to MaxMarked
	// By names the node that supersedes or contradicts the others. These two states require it, so that readers can
	// find what holds instead; other states refuse it.
	By     string
	Reason string // "" for none; at most graph.MaxReason bytes
}

// MarkResult describes the changes of marks.
type MarkResult struct {
	*core.CommitResult `json:"-"`
	Marked             []graph.ID `json:"marked"`   // newly in the state, or with another reason, in the order of the request
	Already            []graph.ID `json:"already"`  // in the state before
	Unmarked           []graph.ID `json:"unmarked"` // whose mark was taken off; of a contradiction that is settled, too
}

// Mark marks nodes in one commit, or none if all of them are in the state already. The text of a node stays unchanged
// and readable; Unmark removes a mark.
//
// A node has one mark. A stronger mark replaces it, in the order stale, contradicted, then expired, retired and
// superseded, then forgotten; for any other a *StateError is returned. The node that supersedes or contradicts must be
// visible itself, so that marks never form a circle. Contradicted marks both nodes, each by the other; a node that a
// third, visible node contradicts keeps that mark. If one of two contradicting nodes is superseded, hidden or
// forgotten, the contradiction is settled: the other's mark is removed, or names another node that it contradicts.
func Mark(ctx context.Context, r *core.Repo, opt core.CommitOptions, req MarkRequest) (*MarkResult, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	return DecideMarks(ctx, r, opt, len(req.Nodes) >= ManyNodes, func(k *Marker) (string, error) {
		err := k.Mark(req)
		return k.message(req.State), err
	})
}

func (r *MarkRequest) check() error {
	if r.State == "" {
		return state.Invalidf("state: missing")
	}
	byOther := r.State.ByOther()
	switch {
	case len(r.Nodes) == 0:
		return state.Invalidf("nodes: name at least one")
	case len(r.Nodes) > MaxMarked:
		return state.Invalidf("nodes: %d, limit %d: mark them in several requests", len(r.Nodes), MaxMarked)
	case byOther && r.By == "":
		return state.Invalidf("by: missing: name the node by which they are %s", r.State)
	case !byOther && r.By != "":
		return state.Invalidf("by: only for %s and %s", graph.Superseded, graph.Contradicted)
	}
	return graph.CheckText("reason", r.Reason, 0, graph.MaxReason)
}

// said is how messages of commits call a mark of each state, and how much it says: a mark is only replaced by one that
// says more.
var said = map[graph.State]struct {
	verb   string
	weight int
}{
	graph.Stale: {"stale", 1}, graph.Contradicted: {"contradict", 2}, graph.Superseded: {"supersede", 3},
	graph.Retired: {"retire", 3}, graph.Expired: {"expire", 3}, graph.Forgotten: {"forget", 4},
}

// message names the marked nodes by their ids alone. The reason is in the marks.
func (k *Marker) message(state graph.State) string {
	text := said[state].verb + " " + Listed(k.Named)
	if !k.by.IsZero() {
		text += " by " + k.by.String()
	}
	return text
}

// Listed lists the first few of many.
func Listed(ids []graph.ID) string {
	const most = 5
	var names []string
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, id.String())
	}
	list := strings.Join(names, ", ")
	if more := len(ids) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// Marker makes the changes that mark nodes of a snapshot.
type Marker struct {
	Context  context.Context
	Snapshot *core.Snapshot
	Result   *MarkResult
	Changes  []graph.Change
	Named    []graph.ID // marked nodes, for the message
	by       graph.ID   // that marks it, zero for none
	marks    map[graph.ID]*graph.Mark
	against  map[graph.ID][]graph.ID // by a node, the nodes that it contradicts in s; nil until needed
	adds     map[graph.ID][]graph.ID // the same for pending changes
}

func NewMarker(ctx context.Context, s *core.Snapshot) *Marker {
	return &Marker{Context: ctx, Snapshot: s, Result: &MarkResult{}, marks: make(map[graph.ID]*graph.Mark),
		adds: make(map[graph.ID][]graph.ID)}
}

// Now returns the mark of a node after the pending changes, nil for none.
func (k *Marker) Now(id graph.ID) (*graph.Mark, error) {
	if m, ok := k.marks[id]; ok {
		return m, nil
	}
	m, err := k.Snapshot.Mark(k.Context, graph.OnNode, id)
	if err == nil {
		k.marks[id] = m
	}
	return m, err
}

// Name resolves the name of a node, or a text that means one whose mark see accepts. It returns an
// *EdgeError if there is only an edge of the name.
func (k *Marker) Name(name string, see func(*graph.Mark) bool) (graph.ID, error) {
	id, err := k.Snapshot.Name(k.Context, name)
	if !IsMissing(err) {
		return id, err
	}
	edge, other := k.Snapshot.EdgeName(k.Context, name)
	if other != nil { // it is none either
		return rank.Find(k.Context, k.Snapshot, name, see)
	}
	e, _, other := k.Snapshot.Edge(k.Context, edge)
	if other != nil {
		return id, other
	}
	return id, &EdgeError{name, e}
}

func (k *Marker) Mark(req MarkRequest) (err error) {
	if req.By != "" {
		if k.by, err = k.judge(req); err != nil {
			return err
		}
	}
	seen := make(map[graph.ID]bool, len(req.Nodes))
	for _, name := range req.Nodes {
		id, err := k.Name(name, IsShown)
		if err != nil {
			return err
		}
		if id == k.by {
			return state.Invalidf("%q cannot be %s by itself", name, req.State)
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		before := len(k.Changes)
		if err := k.One(req, name, id, k.by); err != nil {
			return err
		}
		if len(k.Changes) > before {
			k.Named = append(k.Named, id)
		}
	}
	return nil
}

func (k *Marker) judge(req MarkRequest) (graph.ID, error) {
	by, err := k.Name(req.By, IsShown)
	if err != nil {
		return by, err
	}
	m, err := k.Now(by)
	if err == nil && m != nil && m.State.Hides() {
		err = state.Invalidf("%q is %s: what %s others must be visible itself", req.By, m.State,
			said[req.State].verb+"s")
	}
	return by, err
}

// One marks one node.
func (k *Marker) One(req MarkRequest, name string, id, by graph.ID) error {
	if req.State == graph.Contradicted {
		return k.Contradict(req, name, id, by)
	}
	old, err := k.Now(id)
	if err != nil {
		return err
	}
	if ok, err := k.may(req, name, id, by, old); !ok {
		return err
	}
	k.Set(req, id, by)
	if req.State.Hides() {
		return k.settle(id, old)
	}
	return nil
}

// may reports whether a node needs the mark: not if it has one that says the same. A stronger mark is a *StateError.
func (k *Marker) may(req MarkRequest, name string, id, by graph.ID, old *graph.Mark) (bool, error) {
	switch {
	case old == nil || said[old.State].weight < said[req.State].weight:
		return true, nil
	case old.State == req.State && old.By == by:
		if req.Reason != "" && req.Reason != old.Reason {
			return true, nil
		}
		k.Result.Already = append(k.Result.Already, id)
		return false, nil
	}
	return false, &StateError{Node: id, Name: name, State: old.State, By: old.By, Want: req.State}
}

// Set marks a node and records it for the result.
func (k *Marker) Set(req MarkRequest, id, by graph.ID) {
	k.write(req, id, by)
	k.Result.Marked = append(k.Result.Marked, id)
}

func (k *Marker) write(req MarkRequest, id, by graph.ID) {
	change := &graph.MarkChange{
		On: graph.MarkRef{Node: graph.Ref{ID: id}}, State: req.State, Reason: req.Reason,
	}
	if !by.IsZero() {
		change.By = graph.Ref{ID: by}
	}
	if req.State == graph.Contradicted {
		k.adds[by] = append(k.adds[by], id)
	}
	k.marks[id] = &graph.Mark{On: graph.OnNode, ID: id, State: req.State, By: by, Reason: req.Reason}
	k.Changes = append(k.Changes, graph.Change{Mark: change})
}

// Contradict marks two nodes by each other. A node that is contradicted already keeps its mark; if both are, by others,
// it fails.
func (k *Marker) Contradict(req MarkRequest, name string, a, b graph.ID) error {
	ends := [2]struct {
		id, by graph.ID
		name   string
		keeps  bool
	}{{a, b, name, false}, {b, a, req.By, false}}
	for i := range ends {
		e := &ends[i]
		m, err := k.Now(e.id)
		if err != nil {
			return err
		}
		if m, err = k.open(m); err != nil {
			return err
		}
		if e.keeps = m != nil && m.State == graph.Contradicted && m.By != e.by; e.keeps {
			if i == 1 && ends[0].keeps {
				return &StateError{e.id, e.name, m.State, m.By, req.State}
			}
			continue
		}
		ok, err := k.may(req, e.name, e.id, e.by, m)
		if err != nil {
			return err
		}
		if ok {
			k.Set(req, e.id, e.by)
		}
	}
	return nil
}

// open returns a mark, or nil if the mark says contradicted by a node that is hidden now: such a mark may be replaced.
func (k *Marker) open(m *graph.Mark) (*graph.Mark, error) {
	if m == nil || m.State != graph.Contradicted || m.By.IsZero() {
		return m, nil
	}
	by, err := k.Now(m.By)
	if err != nil || by != nil && by.State.Hides() {
		return nil, err
	}
	return m, nil
}

// Disputed reports whether a mark, which may be nil, says that a visible node contradicts the marked one. When a
// contradicting node is hidden, marks that name it can stay; they count as nothing.
func Disputed(ctx context.Context, s *core.Snapshot, m *graph.Mark) (bool, error) {
	if m == nil || m.State != graph.Contradicted {
		return false, nil
	}
	m, err := NewMarker(ctx, s).open(m)
	return m != nil, err
}

// settle removes the marks on the nodes that a node contradicted, once the node is hidden. If another node contradicts
// one of them too, its mark names that node.
func (k *Marker) settle(id graph.ID, old *graph.Mark) error {
	if old == nil || old.State != graph.Contradicted || old.By.IsZero() {
		return nil
	}
	other, err := k.Now(old.By)
	if err != nil || other == nil || other.State != graph.Contradicted || other.By != id {
		return err
	}
	next, err := k.opponent(old.By)
	if err != nil {
		return err
	}
	if next == nil {
		k.Remove(old.By)
		return nil
	}
	k.write(MarkRequest{State: graph.Contradicted, Reason: next.Reason}, old.By, next.ID)
	return nil
}

// opponent returns the mark of a node that the given node contradicts, of several the one with the least id; nil for
// none. It reads the marks of all nodes, once.
func (k *Marker) opponent(id graph.ID) (*graph.Mark, error) {
	if k.against == nil {
		k.against = make(map[graph.ID][]graph.ID)
		for m, err := range k.Snapshot.Marks(k.Context, graph.OnNode) {
			if err != nil {
				return nil, err
			}
			if m.State == graph.Contradicted && !m.By.IsZero() {
				k.against[m.By] = append(k.against[m.By], m.ID)
			}
		}
	}
	list := slices.Concat(k.against[id], k.adds[id])
	slices.SortFunc(list, graph.ID.Compare)
	for _, other := range list {
		m, err := k.Now(other)
		if err != nil || m != nil && m.State == graph.Contradicted && m.By == id {
			return m, err
		}
	}
	return nil, nil
}

// Remove takes the mark off a node.
func (k *Marker) Remove(id graph.ID) {
	ref := &graph.MarkRef{Node: graph.Ref{ID: id}}
	k.Changes = append(k.Changes, graph.Change{Remove: &graph.Removal{Mark: ref}})
	k.marks[id] = nil
	k.Result.Unmarked = append(k.Result.Unmarked, id)
}

// UnmarkRequest asks for the marks of nodes to be taken off.
type UnmarkRequest struct {
	Nodes  []string // names as of core.Snapshot.Name, 1 to MaxMarked
	Reason string   // "" for none; it goes into the message of the commit
}

// Unmark removes the marks of nodes in one commit, or none if no node has one: forgotten and retired nodes are found
// again. Of two that contradict each other it removes both marks.
func Unmark(ctx context.Context, r *core.Repo, opt core.CommitOptions, req UnmarkRequest) (*MarkResult, error) {
	check := MarkRequest{State: graph.Stale, Nodes: req.Nodes, Reason: req.Reason}
	if err := check.check(); err != nil {
		return nil, err
	}
	return DecideMarks(ctx, r, opt, len(req.Nodes) >= ManyNodes, func(k *Marker) (message string, err error) {
		for _, name := range req.Nodes {
			if err := k.unmark(name); err != nil {
				return "", err
			}
		}
		if message = "restore " + Listed(k.Named); req.Reason != "" {
			message += ": " + req.Reason
		}
		return message, nil
	})
}

func (k *Marker) unmark(name string) error {
	id, err := k.Name(name, func(m *graph.Mark) bool { return m != nil })
	if err != nil {
		return err
	}
	old, err := k.Now(id)
	if err != nil {
		return err
	}
	k.Named = append(k.Named, id)
	if old == nil {
		k.Result.Already = append(k.Result.Already, id)
		return nil
	}
	k.Remove(id)
	return k.settle(id, old)
}

// PropPinned is true on nodes that a user wants every session to begin with. It is a property like any other, so
// that it merges, differs and is undone as these are.
const PropPinned = "pinned"

// Pinned reports whether a node is pinned.
func Pinned(n *graph.Node) bool {
	v, _ := ipld.FindEntry(n.Props, PropPinned)
	return v.Bool()
}

// PinRequest asks for nodes to be pinned, or unpinned.
type PinRequest struct {
	Nodes []string // names as of core.Snapshot.Name, 1 to MaxMarked
	Unpin bool
}

// PinResult describes the changes of pins.
type PinResult struct {
	*core.CommitResult `json:"-"`
	Changed            []graph.ID `json:"changed"` // in the order of the request
	Already            []graph.ID `json:"already"` // that were as asked before
}

// Pin sets or removes the property PropPinned of nodes in one commit, or none if nothing changes. It returns an
// *EdgeError if a name belongs to an edge.
func Pin(ctx context.Context, r *core.Repo, opt core.CommitOptions, req PinRequest) (*PinResult, error) {
	switch {
	case len(req.Nodes) == 0:
		return nil, state.Invalidf("nodes: name at least one")
	case len(req.Nodes) > MaxMarked:
		return nil, state.Invalidf("nodes: %d, limit %d: pin them in several requests", len(req.Nodes), MaxMarked)
	}
	verb := "pin "
	if req.Unpin {
		verb = "unpin "
	}
	var res *PinResult
	done, err := DecideMarks(ctx, r, opt, len(req.Nodes) >= ManyNodes, func(k *Marker) (_ string, err error) {
		if res, err = k.Pin(req); err != nil {
			return "", err
		}
		return verb + Listed(res.Changed), nil
	})
	if err != nil {
		return nil, err
	}
	res.CommitResult = done.CommitResult
	return res, nil
}

// Pin adds the changes that pin or unpin nodes.
func (k *Marker) Pin(req PinRequest) (*PinResult, error) {
	res := &PinResult{}
	seen := make(map[graph.ID]bool, len(req.Nodes))
	for _, name := range req.Nodes {
		id, err := k.Name(name, IsShown)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		n, _, err := k.Snapshot.Node(k.Context, id)
		if err != nil {
			return nil, err
		}
		change := &graph.NodeChange{ID: id}
		_, has := ipld.FindEntry(n.Props, PropPinned)
		switch {
		case req.Unpin && has:
			change.Unset = []string{"props." + PropPinned}
		case !req.Unpin && !Pinned(n):
			change.Props = []ipld.Entry{{Key: PropPinned, Value: ipld.BoolValue(true)}}
		default:
			res.Already = append(res.Already, id)
			continue
		}
		res.Changed = append(res.Changed, id)
		k.Changes = append(k.Changes, graph.Change{Node: change})
	}
	return res, nil
}

// Due returns the time from which a node is out of date, and what says so: its property "expires" or its "validTo", the
// earlier one of both; ok is false if neither does. A property that is no time says nothing.
func Due(n *graph.Node) (at graph.Time, why string, ok bool) {
	if v, found := ipld.FindEntry(n.Props, PropExpires); found && v.Kind() == ipld.String {
		if t, err := graph.ParseTime(v.Text()); err == nil {
			at, why, ok = t, PropExpires, true
		}
	}
	if n.ValidTo.Given && (!ok || n.ValidTo.Time < at) {
		at, why, ok = n.ValidTo.Time, "validTo", true
	}
	return at, why, ok
}

// ExpireRequest asks for what is out of date to be marked expired.
type ExpireRequest struct {
	Now    graph.Time // what is due at that time or before it is out of date
	Nodes  []string   // only these, named as of core.Snapshot.Name; empty for all nodes
	Reason string     // "" for what Due says
}

// Expire marks nodes that are out of date as expired, in one commit, or none if there are none.
// What a mark hides already is left alone, and a node that is named and not due is reported as
// neither. Without names every node is read: the time it takes grows with the memory.
func Expire(ctx context.Context, r *core.Repo, opt core.CommitOptions, req ExpireRequest) (*MarkResult, error) {
	mark := MarkRequest{State: graph.Expired, Nodes: []string{""}, Reason: req.Reason}
	if err := mark.check(); err != nil {
		return nil, err
	}
	long := len(req.Nodes) == 0 || len(req.Nodes) >= ManyNodes
	return DecideMarks(ctx, r, opt, long, func(k *Marker) (string, error) {
		err := k.expire(req)
		return "expire " + Listed(k.Named), err
	})
}

func (k *Marker) expire(req ExpireRequest) error {
	if len(req.Nodes) == 0 {
		for e, err := range k.Snapshot.Nodes(k.Context, graph.ID{}) {
			if err == nil {
				err = k.expireDue(e.Node, req)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range req.Nodes {
		id, err := k.Name(name, IsShown)
		if err != nil {
			return err
		}
		n, _, err := k.Snapshot.Node(k.Context, id)
		if err == nil {
			err = k.expireDue(n, req)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *Marker) expireDue(n *graph.Node, req ExpireRequest) error {
	at, why, ok := Due(n)
	if !ok || at > req.Now {
		return nil
	}
	old, err := k.Now(n.ID)
	if err != nil {
		return err
	}
	if old != nil && old.State.Hides() {
		if old.State == graph.Expired {
			k.Result.Already = append(k.Result.Already, n.ID)
		}
		return nil
	}
	k.Set(MarkRequest{State: graph.Expired, Reason: cmp.Or(req.Reason, why+" "+at.String())}, n.ID, graph.ID{})
	k.Named = append(k.Named, n.ID)
	return k.settle(n.ID, old)
}

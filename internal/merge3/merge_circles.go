package merge3

import (
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// circles turns marks into conflicts if both sides together supersede nodes in a cycle. Each mark merges alone, but
// all nodes of the cycle would be hidden, which neither side wanted. A mark in conflict may become that of any
// side, so all of them count. Then taking one side for all conflicts closes no cycle that this side did not have.
func (m *StateMerge) circles() error {
	differ, err := m.differingMarks()
	if err != nil || len(differ) == 0 {
		return err
	}
	for {
		found, err := m.onCircles(differ)
		if err != nil {
			return err
		}
		var edits []prolly.Edit
		for _, id := range found {
			edit, err := m.circleConflict(id)
			if err != nil {
				return err
			}
			edits = append(edits, edit)
		}
		if len(edits) == 0 {
			return nil
		}
		if m.out.Marks, err = m.out.Marks.Edit(m.Ctx, edits); err != nil {
			return err
		}
	}
}

// differingMarks returns the nodes whose marks differ between the sides, in id order.
func (m *StateMerge) differingMarks() ([]graph.ID, error) {
	var out []graph.ID
	for c, err := range prolly.Diff(m.Ctx, m.Ours.Marks, m.Theirs.Marks) {
		if err != nil {
			return nil, err
		}
		on, id, err := graph.ParseMarkKey(c.Key)
		if err != nil {
			return nil, fmt.Errorf("%w tree of marks: %w", store.ErrCorrupt, err)
		}
		if on == graph.OnNode {
			out = append(out, id)
		}
	}
	return out, nil
}

// open reports whether it is undecided which side's mark a node gets.
func (m *StateMerge) open(id graph.ID) bool {
	item := graph.MarkItem(graph.OnNode, id)
	return m.conflicts[item] != nil || m.follow[item]
}

// successors returns the nodes that may supersede a node in the merged state.
func (m *StateMerge) successors(id graph.ID) ([]graph.ID, error) {
	states := []*state.State{m.out}
	if m.open(id) {
		states = []*state.State{m.Ours, m.Theirs, m.Base}
	}
	var out []graph.ID
	for _, s := range states {
		by, err := s.Successor(m.Ctx, id)
		if err != nil {
			return nil, fmt.Errorf("mark of node %s: %w", id, err)
		}
		if !by.IsZero() {
			out = append(out, by)
		}
	}
	return out, nil
}

// onCircles returns the nodes of from that lie on a cycle of successors and whose marks are not open, in the order
// given. It is Tarjan's algorithm for strongly connected components with an explicit stack, since chains may be long.
func (m *StateMerge) onCircles(from []graph.ID) ([]graph.ID, error) {
	type visit struct {
		id   graph.ID
		next []graph.ID // not visited yet
	}
	number := make(map[graph.ID]int) // visit order of nodes, from 1
	low := make(map[graph.ID]int)    // low link: the lowest node on the stack that is reachable
	on := make(map[graph.ID]bool)    // on the stack
	circle := make(map[graph.ID]bool)
	var stack []graph.ID
	var visits []visit
	enter := func(id graph.ID) error {
		next, err := m.successors(id)
		number[id] = len(number) + 1
		low[id], on[id], stack = number[id], true, append(stack, id)
		visits = append(visits, visit{id, next})
		return err
	}
	for _, start := range from {
		if number[start] == 0 {
			if err := enter(start); err != nil {
				return nil, err
			}
		}
		for len(visits) > 0 {
			v := &visits[len(visits)-1]
			if len(v.next) > 0 {
				to := v.next[0]
				v.next = v.next[1:]
				switch {
				case number[to] == 0:
					if err := enter(to); err != nil {
						return nil, err
					}
				case on[to]:
					low[v.id] = min(low[v.id], number[to])
					circle[to] = circle[to] || to == v.id
				}
				continue
			}
			id := v.id
			visits = visits[:len(visits)-1]
			if len(visits) > 0 {
				up := visits[len(visits)-1].id
				low[up] = min(low[up], low[id])
			}
			if low[id] != number[id] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != id {
				at--
			}
			for _, member := range stack[at:] {
				on[member] = false
				circle[member] = circle[member] || len(stack)-at > 1
			}
			stack = stack[:at]
		}
	}
	var out []graph.ID
	for _, id := range from {
		if circle[id] && !m.open(id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// circleConflict records the mark of a node as a conflict and returns the edit of the tree of marks.
func (m *StateMerge) circleConflict(id graph.ID) (prolly.Edit, error) {
	key := graph.MarkKey(graph.OnNode, id)
	con := &commit.Conflict{Item: graph.MarkItem(graph.OnNode, id), Cause: graph.Circle}
	edit := prolly.Edit{Key: key}
	if err := m.sides(con, key, m.Base.Marks, m.Ours.Marks, m.Theirs.Marks); err != nil {
		return edit, err
	}
	m.conflicts[con.Item] = con
	take := con.Ours
	if m.Virtual {
		take = con.Base
	}
	if take.Defined() {
		edit.Value = ipld.AppendLink(nil, take)
	}
	return edit, nil
}

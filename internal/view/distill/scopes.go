package distill

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// Target is a scope that a node is in by a rule.
type Target struct {
	ID   graph.ID
	Rule int    // the number of the first such rule
	Name string // of a scope that is no node, else ""
}

// Reader reads one graph.
type Reader interface {
	// Fact returns a node, nil if there is none.
	Fact(ctx context.Context, id graph.ID) (*Fact, error)
	// Up returns the scopes that a node is in, without itself, each once. Marks hide edges, not ends.
	Up(ctx context.Context, id graph.ID) ([]Target, error)
	// Down returns the nodes that are in a node by edges.
	Down(ctx context.Context, id graph.ID) iter.Seq2[graph.ID, error]
}

// view answers what is where in one graph.
type view struct {
	ctx context.Context
	r   Reader
	of  map[graph.ID][]graph.ID // the circle of each scope that was asked about, ascending
	ups map[graph.ID][]Target   // of scopes
}

func newView(ctx context.Context, r Reader) *view {
	return &view{ctx: ctx, r: r, of: map[graph.ID][]graph.ID{}, ups: map[graph.ID][]Target{}}
}

func (v *view) isScope(id graph.ID) (bool, error) {
	if v.of[id] != nil {
		return true, nil
	}
	for _, err := range v.r.Down(v.ctx, id) {
		return err == nil, err
	}
	return false, nil
}

func (v *view) up(id graph.ID) ([]Target, error) {
	if list, ok := v.ups[id]; ok {
		return list, nil
	}
	list, err := v.r.Up(v.ctx, id)
	if err == nil {
		v.ups[id] = list
	}
	return list, err
}

// circle returns the nodes that are one scope with id, which is a scope: Tarjan's algorithm over what it
// leads to, without recursion.
func (v *view) circle(id graph.ID) ([]graph.ID, error) {
	if list := v.of[id]; list != nil {
		return list, nil
	}
	type frame struct {
		id   graph.ID
		up   []Target
		next int
	}
	number, low := map[graph.ID]int{}, map[graph.ID]int{}
	var open []graph.ID
	var frames []frame
	begin := func(id graph.ID) error {
		up, err := v.up(id)
		number[id] = len(number) + 1
		low[id] = number[id]
		open = append(open, id)
		frames = append(frames, frame{id: id, up: up})
		return err
	}
	if err := begin(id); err != nil {
		return nil, err
	}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.next < len(f.up) {
			t := f.up[f.next]
			f.next++
			switch {
			case t.Name != "" || v.of[t.ID] != nil: // it leads nowhere, or not back
			case number[t.ID] == 0:
				if err := begin(t.ID); err != nil {
					return nil, err
				}
			default:
				low[f.id] = min(low[f.id], number[t.ID])
			}
			continue
		}
		done := *f
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			below := frames[len(frames)-1].id
			low[below] = min(low[below], low[done.id])
		}
		if low[done.id] == number[done.id] {
			at := slices.Index(open, done.id)
			list := slices.Clone(open[at:])
			open = open[:at]
			slices.SortFunc(list, graph.ID.Compare)
			for _, one := range list {
				v.of[one] = list
			}
		}
	}
	return v.of[id], nil
}

// parent is a scope that a fact or scope is in.
type parent struct {
	id   graph.ID // zero for the root
	rule int
	name string
}

// parents returns the scopes that some nodes are in, without the one that they are; the home first. What
// is in none is in the root.
func (v *view) parents(nodes []graph.ID) ([]parent, error) {
	var out []parent
	for _, id := range nodes {
		ups, err := v.up(id)
		if err != nil {
			return nil, err
		}
		if len(nodes) == 1 && v.of[id] == nil {
			delete(v.ups, id) // facts are asked about once
		}
		for _, t := range ups {
			p := parent{t.ID, t.Rule, t.Name}
			if t.Name == "" {
				list, err := v.circle(t.ID)
				if err != nil {
					return nil, err
				}
				p.id = list[0]
			}
			if !(len(nodes) > 0 && p.id == nodes[0]) {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b parent) int { return cmp.Or(a.id.Compare(b.id), cmp.Compare(a.rule, b.rule)) })
	out = slices.CompactFunc(out, func(a, b parent) bool { return a.id == b.id })
	slices.SortFunc(out, func(a, b parent) int { return cmp.Or(cmp.Compare(a.rule, b.rule), a.id.Compare(b.id)) })
	if len(out) == 0 {
		return []parent{{}}, nil
	}
	return out, nil
}

// scopeKey is the place of a scope in those that it is in: where the text of its first node is.
func (v *view) scopeKey(id graph.ID, name string) (Key, error) {
	if name != "" {
		sem, err := SemOf(name)
		return makeKey(sem, id), err
	}
	f, err := v.r.Fact(v.ctx, id)
	if err != nil || f == nil || f.Hidden {
		return makeKey(scopeSem(id), id), err
	}
	sem, err := SemOf(f.Text)
	return makeKey(sem, id), err
}

// within returns the key of a scope in those that it is in, and these, the home first.
func (v *view) within(scope parent) (key Key, to []parent, err error) {
	if key, err = v.scopeKey(scope.id, scope.name); err != nil {
		return key, nil, err
	}
	if scope.name != "" {
		return key, []parent{{}}, nil
	}
	circle, err := v.circle(scope.id)
	if err == nil {
		to, err = v.parents(circle)
	}
	return key, to, err
}

// ScopeOf returns the id of the scope that a node is, with others where they are in each other; zero for none.
func ScopeOf(ctx context.Context, r Reader, id graph.ID) (graph.ID, error) {
	v := newView(ctx, r)
	is, err := v.isScope(id)
	if err != nil || !is {
		return graph.ID{}, err
	}
	list, err := v.circle(id)
	if err != nil {
		return graph.ID{}, err
	}
	return list[0], nil
}

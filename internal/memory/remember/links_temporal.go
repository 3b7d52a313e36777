package remember

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of the search for the newest memories.
const (
	recentCommits = 32  // of the history, each the first parent of the one before
	recentNodes   = 256 // nodes that these added
	recentCached  = 256 // commits whose nodes a Writer remembers
)

type recent struct {
	id          graph.ID
	created     graph.Time
	sources     []string
	agent, task string          // of its commit
	terms       compare.TermSet // of a draft
	drafted     bool            // written by the commit that is being made
}

// temporal links a draft to the memory before it of the same source, and to those of the day before. It returns the
// first, nil for none.
func (l *linker) temporal(ctx context.Context, d *Draft, out *Linked) (*recent, error) {
	if !l.opt.runs(RuleTemporal) && !l.opt.runs(RuleCausal) {
		return nil, nil
	}
	previous, err := l.previous(ctx, d)
	if err != nil || !l.opt.runs(RuleTemporal) {
		return previous, err
	}
	if previous != nil {
		out.Links = append(out.Links, Link{
			Type: memory.EdgeFollows, Src: graph.Ref{ID: d.ID}, Dst: graph.Ref{ID: previous.id},
			Why: "the memory before it " + d.follows(previous),
		})
	}
	return previous, l.near(ctx, d, previous, out)
}

// previous returns the newest memory of the same source as a draft, nil for none.
func (l *linker) previous(ctx context.Context, d *Draft) (*recent, error) {
	if len(d.Sources) == 0 && d.Task == "" && d.Agent == "" {
		return nil, nil // no memory has the same source
	}
	fits := func(a *added) bool {
		return len(d.Sources) > 0 || d.follows(&recent{agent: a.agent, task: a.task}) != ""
	}
	for r, err := range l.newest(ctx, d, fits) {
		if err != nil {
			return nil, err
		}
		if d.follows(r) == "" {
			continue
		}
		if ok, err := l.visible(ctx, r); ok || err != nil {
			return r, err
		}
	}
	return nil, nil
}

// near links a draft to the newest memories of the day before it.
func (l *linker) near(ctx context.Context, d *Draft, previous *recent, out *Linked) error {
	oldest := d.Created - nearHours*hourMicros
	done := map[graph.ID]bool{} // a node that was removed and added again was added twice
	if previous != nil {
		done[previous.id] = true
	}
	written := 0
	for r, err := range l.newest(ctx, d, func(a *added) bool { return a.time >= oldest }) {
		if err != nil {
			return err
		}
		if r.created < oldest || done[r.id] {
			continue
		}
		done[r.id] = true
		if ok, err := l.visible(ctx, r); err != nil {
			return err
		} else if !ok {
			continue
		}
		hours := uint32((d.Created - r.created) / hourMicros)
		why := fmt.Sprintf("remembered %d hours before it", hours)
		if hours == 0 {
			why = "remembered within the hour before it"
		}
		out.Links = append(out.Links, Link{
			Type: memory.EdgeNear, Src: graph.Ref{ID: d.ID}, Dst: graph.Ref{ID: r.id},
			Weight: graph.MaxWeight / (1 + hours), Why: why,
		})
		if written++; written == maxNear {
			break
		}
	}
	return nil
}

// newest yields recently written memories not created after a draft: the newest drafts of its commit, then matching
// ones that the newest commits added. It reads only as many as are consumed.
func (l *linker) newest(ctx context.Context, d *Draft, fits func(*added) bool) iter.Seq2[*recent, error] {
	return func(yield func(*recent, error) bool) {
		before := func(r *recent) bool { return r.id != d.ID && r.created <= d.Created }
		for i := range min(len(l.drafts), recentNodes) {
			if r := &l.drafts[len(l.drafts)-1-i]; before(r) && !yield(r, nil) {
				return
			}
		}
		id, nodes := l.s.CID(), 0
		for range recentCommits {
			if !id.Defined() || nodes >= recentNodes {
				return
			}
			a, err := l.m.addedBy(ctx, id)
			if err == nil && fits(a) {
				err = l.m.readAdded(ctx, id, a)
				nodes += a.read
				for i := range a.nodes {
					if r := &a.nodes[i]; err == nil && before(r) && !yield(r, nil) {
						return
					}
				}
			}
			if err != nil {
				yield(nil, fmt.Errorf("read the newest memories: %w", err))
				return
			}
			id = a.parent
		}
	}
}

// follows returns why a draft follows a memory, "" if it does not: they share a source, or,
// if the draft has none, the task, and if it has none either, the agent.
func (d *Draft) follows(r *recent) string {
	for _, s := range d.Sources {
		if slices.Contains(r.sources, s) {
			return "of the source " + s
		}
	}
	switch {
	case len(d.Sources) > 0:
	case d.Task != "":
		if d.Task == r.task && d.Agent == r.agent {
			return "of the task " + d.Task
		}
	case d.Agent != "" && d.Agent == r.agent && r.task == "":
		return "of the agent " + d.Agent
	}
	return ""
}

// visible reports whether a memory is still there and not hidden.
func (l *linker) visible(ctx context.Context, r *recent) (bool, error) {
	if r.drafted {
		hidden, err := l.hides(ctx, r.id)
		return !hidden, err
	}
	n, err := l.seen(ctx, r.id)
	return n != nil, err
}

// added lists the nodes that a commit added: at most recentNodes, the first by their ids, sorted by creation with the
// newest first.
type added struct {
	parent      ipld.CID // the first, undefined for none
	agent, task string
	time        graph.Time // when it was made
	whole       bool       // whether what follows was read
	nodes       []recent   // without tags and entities
	read        int        // with them
}

// addedBy returns the cached entry of a commit. What a commit added never changes, so a Writer that stays open reads
// each once.
func (m *Writer) addedBy(ctx context.Context, id ipld.CID) (*added, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.recent[id]; a != nil {
		return a, nil
	}
	s, err := m.r.At(ctx, id)
	if err != nil {
		return nil, err
	}
	c := s.Commit()
	a := &added{agent: c.Agent, task: c.Task, time: c.Time}
	if len(c.Parents) > 0 {
		a.parent = c.Parents[0]
	}
	if m.recent == nil || len(m.recent) >= recentCached {
		m.recent = map[ipld.CID]*added{}
	}
	m.recent[id] = a
	return a, nil
}

// readAdded completes the entry of a commit, which is immutable from then on.
func (m *Writer) readAdded(ctx context.Context, id ipld.CID, a *added) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.whole {
		return nil
	}
	after, err := m.r.At(ctx, id)
	if err != nil {
		return err
	}
	before, err := m.r.At(ctx, a.parent)
	if err != nil {
		return err
	}
	a.nodes, a.read = nil, 0
	for n, err := range before.AddedNodes(ctx, after) {
		if err != nil {
			return err
		}
		a.read++
		if n.Type != memory.TypeEntity && n.Type != memory.TypeTag {
			a.nodes = append(a.nodes, recent{
				id: n.ID, created: n.Created, sources: n.Sources, agent: a.agent, task: a.task,
			})
		}
		if a.read == recentNodes {
			break
		}
	}
	slices.SortStableFunc(a.nodes, func(x, y recent) int { return cmp.Compare(y.created, x.created) })
	a.whole = true
	return nil
}

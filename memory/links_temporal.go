package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

// Bounds of what is looked at for the newest memories.
const (
	recentCommits = 32  // of the history, each the first parent of the one before
	recentNodes   = 256 // nodes that these added
	recentCached  = 256 // commits whose nodes a Memory remembers
)

// recent is a memory that was written lately.
type recent struct {
	id          graph.ID
	created     graph.Time
	sources     []string
	agent, task string // of its commit
	text        string // of a draft
	drafted     bool   // written by the commit that is being made
}

// temporal links a draft to the memory before it of the same source, and to those of the day before.
// It returns the first, nil for none.
func (l *linker) temporal(ctx context.Context, d *Draft, out *Linked) (*recent, error) {
	if !l.opt.runs(RuleTemporal) && !l.opt.runs(RuleCausal) {
		return nil, nil
	}
	if err := l.readRecent(ctx); err != nil {
		return nil, err
	}
	var previous *recent
	var near []*recent
	for r := range l.newest() {
		if r.id == d.ID || r.created > d.Created {
			continue
		}
		if why := d.follows(r); why != "" && (previous == nil || r.later(previous)) {
			if ok, err := l.visible(ctx, r); err != nil {
				return nil, err
			} else if ok {
				previous = r
			}
		}
		if d.Created-r.created <= nearHours*hourMicros {
			near = append(near, r)
		}
	}
	if !l.opt.runs(RuleTemporal) {
		return previous, nil
	}
	if previous != nil {
		out.Links = append(out.Links, Link{
			Type: EdgeFollows, Src: graph.Ref{ID: d.ID}, Dst: graph.Ref{ID: previous.id},
			Why: "the memory before it " + d.follows(previous),
		})
	}
	return previous, l.near(ctx, d, near, previous, out)
}

// newest yields what was written lately: the newest drafts, then what commits added.
func (l *linker) newest() iter.Seq[*recent] {
	return func(yield func(*recent) bool) {
		for i := range min(len(l.drafts), recentNodes) {
			if !yield(&l.drafts[len(l.drafts)-1-i]) {
				return
			}
		}
		for i := range l.recent {
			if !yield(&l.recent[i]) {
				return
			}
		}
	}
}

// near links a draft to the newest memories of the day before it.
func (l *linker) near(
	ctx context.Context, d *Draft, list []*recent, previous *recent, out *Linked,
) error {
	slices.SortStableFunc(list, func(a, b *recent) int {
		switch {
		case a.later(b):
			return -1
		case b.later(a):
			return 1
		}
		return 0 // of one commit: the list has the newest first
	})
	written := 0
	for _, r := range list {
		if r == previous {
			continue
		}
		if written == maxNear {
			break
		}
		ok, err := l.visible(ctx, r)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		written++
		hours := uint32((d.Created - r.created) / hourMicros)
		why := fmt.Sprintf("remembered %d hours before it", hours)
		if hours == 0 {
			why = "remembered within the hour before it"
		}
		out.Links = append(out.Links, Link{
			Type: EdgeNear, Src: graph.Ref{ID: d.ID}, Dst: graph.Ref{ID: r.id},
			Weight: graph.MaxWeight / (1 + hours), Why: why,
		})
	}
	return nil
}

// later reports whether r comes after o: by its time, then a draft after what is written, then the
// smaller id.
func (r *recent) later(o *recent) bool {
	if r.created != o.created {
		return r.created > o.created
	}
	if r.drafted != o.drafted {
		return r.drafted
	}
	return !r.drafted && r.id.Compare(o.id) < 0
}

// follows returns why a draft follows a memory, "" where it does not: they share a source, or,
// where the draft has none, the task, and where it has none either, the agent.
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
		hidden, err := l.hides(r.id)
		return !hidden, err
	}
	n, err := l.seen(ctx, r.id)
	return n != nil, err
}

// readRecent reads what the newest commits added. What a commit added never changes, so a Memory
// that stays open reads each once.
func (l *linker) readRecent(ctx context.Context) error {
	if l.read {
		return nil
	}
	l.read = true
	s, id := l.s, l.s.CID()
	for count, nodes := 0, 0; id.Defined() && count < recentCommits && nodes < recentNodes; count++ {
		added, ok := l.m.recentOf(id)
		if !ok {
			var err error
			if s == nil {
				if s, err = l.m.r.At(ctx, id); err != nil {
					return err
				}
			}
			if added, err = l.m.readAdded(ctx, s); err != nil {
				return err
			}
		}
		l.recent = append(l.recent, added.nodes...)
		nodes += added.read
		id, s = added.parent, nil
	}
	return nil
}

// added is what a commit added: at most recentNodes, the first by their ids.
type added struct {
	nodes  []recent // without tags and entities
	read   int
	parent ipld.CID // the first, undefined for none
}

// readAdded reads what a commit added.
func (m *Memory) readAdded(ctx context.Context, after *repo.Snapshot) (added, error) {
	var out added
	c := after.Commit()
	if len(c.Parents) > 0 {
		out.parent = c.Parents[0]
	}
	before, err := m.r.At(ctx, out.parent)
	if err != nil {
		return out, err
	}
	for n, err := range before.AddedNodes(ctx, after) {
		if err != nil {
			return out, fmt.Errorf("read the newest memories: %w", err)
		}
		out.read++
		if n.Type != TypeEntity && n.Type != TypeTag {
			out.nodes = append(out.nodes, recent{
				id: n.ID, created: n.Created, sources: n.Sources, agent: c.Agent, task: c.Task,
			})
		}
		if out.read == recentNodes {
			break
		}
	}
	m.keepRecent(after.CID(), out)
	return out, nil
}

func (m *Memory) recentOf(id ipld.CID) (added, bool) {
	m.recentLock.Lock()
	defer m.recentLock.Unlock()
	a, ok := m.recent[id]
	return a, ok
}

func (m *Memory) keepRecent(id ipld.CID, a added) {
	m.recentLock.Lock()
	defer m.recentLock.Unlock()
	if m.recent == nil || len(m.recent) >= recentCached {
		m.recent = map[ipld.CID]added{}
	}
	m.recent[id] = a
}

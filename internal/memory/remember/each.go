package remember

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
)

// plan decides about requests upon a snapshot.
func (m *Writer) plan(
	ctx context.Context, s *core.Snapshot, opt WriteOptions, reqs []Request, drafts []*Draft,
) (*core.Decision, []Remembered, error) {
	p, err := m.newPlanner(ctx, s, opt)
	if err != nil {
		return nil, nil, err
	}
	for i := range reqs {
		if err := p.remember(&reqs[i], drafts[i]); err != nil {
			return nil, nil, refused(reqs, i, err)
		}
	}
	return &core.Decision{Changes: p.changes(), Message: p.message()}, p.out, nil
}

// planEach decides like plan, but each request sees the ones before it. Rules look up words, names and times in a
// commit, so each request is committed first: in a trial commit that no other process sees.
func (m *Writer) planEach(
	ctx context.Context, s *core.Snapshot, opt WriteOptions, reqs []Request, drafts []*Draft,
) (*core.Decision, []Remembered, error) {
	by := state.Stamp{
		Author: opt.Author, Agent: opt.Agent, Task: opt.Task, Time: opt.Time, Command: opt.Command,
	}
	for _, rule := range guard.Rules() { // the guard checks the whole result later
		by.Secrets.Allow = append(by.Secrets.Allow, rule.ID)
	}
	r, err := s.Trial(ctx, opt.Branch, by)
	if err != nil {
		return nil, nil, err
	}
	trial := New(r)
	var changes []graph.Change
	var out []Remembered
	for i := range reqs {
		by.Time = drafts[i].Created
		one := WriteOptions{core.CommitOptions{Stamp: by, Branch: opt.Branch}, opt.Links, opt.batch}
		_, err := memory.Decide(ctx, r, one.CommitOptions, false,
			func(s *core.Snapshot) (*core.Decision, error) {
				d, made, err := trial.plan(ctx, s, one, reqs[i:i+1], drafts[i:i+1])
				if err != nil {
					return nil, refused(reqs, i, err)
				}
				for _, c := range d.Changes {
					c.Time = graph.At(by.Time)
					changes = append(changes, c)
				}
				for i := range made {
					made[i].made = nil // those after it may change it
				}
				out = append(out, made...)
				return d, nil
			})
		if err != nil {
			return nil, nil, err
		}
	}
	return &core.Decision{Changes: changes, Message: (&planner{out: out}).message()}, out, nil
}

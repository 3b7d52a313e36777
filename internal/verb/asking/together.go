package asking

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/retrieve"
)

// ofProject are fields that are about the project's repository alone.
var ofProject = []string{
	"session", "receipt", "follow", "author", "agent", "task", "time", "at", "profile", "with-global", "altitude", "-",
}

// together asks the project's repository and the user's own, and merges the answers into one list. Only the project's
// answer is recorded.
func (q *RetrieveRequest) together(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
	project, to := q.copied(req)
	to.WithGlobal, to.ExitCode = false, false
	if err := to.Prepare(ctx, s, project); err != nil {
		return err
	}
	ours, theirs := new(Answer), new(Answer)
	err := to.Drive(ctx, s, project, func(res any) error {
		ours = res.(*Answer)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s repository: %w", verb.FromProject, err)
	}
	err = q.global(ctx, s.Spec, q.ofGlobal(req), func(res any) error {
		theirs = res.(*Answer)
		return nil
	})
	if err != nil && verb.OutcomeOf(ctx, err) != operation.NotFound { // it has no commit yet, so nothing to say
		return fmt.Errorf("%s repository: %w", verb.FromGlobal, err)
	}
	first, second := part(verb.FromProject, ours), part(verb.FromGlobal, theirs)
	limit := retrieve.DefaultLimit
	if n := to.prepared.Limit; n != nil {
		limit = *n
	} else { // a profile may say more
		limit = max(limit, len(ours.Items), len(theirs.Items))
	}
	budget := ours.TokensBudget
	if budget > 0 { // the budget that the project's digests leave; the user's own are not requested
		budget = max(1, budget-ours.digestTokens())
	}
	list := complete.Together(limit, budget, first, second)
	ours.join(list, theirs, []complete.Part{first, second})
	return cmp.Or(emit(ours), q.outcome(ours))
}

// part returns an answer as a part of several, whose scores count as much as its best item covers the
// question.
func part(name string, a *Answer) complete.Part {
	p := complete.Part{Name: name, Share: complete.FullShare}
	for i := range a.Items {
		p.Items = append(p.Items, a.Items[i].Item)
	}
	if a.Verdict != "" {
		p.Share = complete.ShareOf(a.Covered)
	}
	return p
}

// copied returns a copy of the request, which req is or embeds, and of its part that asks.
func (q *RetrieveRequest) copied(req any) (any, *RetrieveRequest) {
	clone := reflect.New(reflect.TypeOf(req).Elem())
	clone.Elem().Set(reflect.ValueOf(req).Elem())
	return clone.Interface(), clone.Interface().(interface{ question() *RetrieveRequest }).question()
}

func (q *RetrieveRequest) ofGlobal(req any) any {
	clone, to := q.copied(req)
	to.Session, to.Profile, to.At = "", "", "HEAD"
	to.Receipt, to.Follow, to.WithGlobal, to.ExitCode, to.aside = false, false, false, false, true
	to.Actor = verb.Actor{}
	to.Forget(ofProject)
	return clone
}

func (q *RetrieveRequest) question() *RetrieveRequest { return q }

func (out *Answer) join(list *complete.Joint, theirs *Answer, parts []complete.Part) {
	answers := []*Answer{{Items: out.Items, Commit: out.Commit, Warnings: out.Warnings}, theirs}
	out.Items, out.Warnings, out.TokensUsed = nil, nil, list.Used+out.digestTokens()
	out.Dropped += theirs.Dropped + list.Left
	out.DroppedBy.Budget += theirs.DroppedBy.Budget + list.Left
	out.DroppedBy.Duplicate += theirs.DroppedBy.Duplicate
	out.Candidates += theirs.Candidates
	if theirs.Verdict.Surer(out.Verdict) {
		out.Verdict, out.Because, out.Missing, out.Covered = theirs.Verdict, theirs.Because, theirs.Missing, theirs.Covered
	}
	for i, a := range answers {
		name := parts[i].Name
		out.Repositories = append(out.Repositories, Scope{name, a.Commit, parts[i].Share, list.Counts[i]})
		for _, w := range a.Warnings {
			w.Repository = name
			out.Warnings = append(out.Warnings, w)
		}
	}
	for _, it := range list.Items {
		item := answers[it.Part].Items[it.At]
		item.Repository = parts[it.Part].Name
		item.Item = it.Item
		out.Items = append(out.Items, item)
	}
}

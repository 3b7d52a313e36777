package branching

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Rule says what is done if both sides changed one thing.
type Rule = string

// The rules.
const (
	Stop   Rule = "stop" // leave the merge in progress
	Newest Rule = "newest"
	Ours   Rule = "ours"
	Theirs Rule = "theirs"
)

// Rules returns the rules in the order in which they are listed.
func Rules() []Rule { return []Rule{Stop, Newest, Ours, Theirs} }

// CheckRule refuses what is no rule.
func CheckRule(rule string) error {
	if !slices.Contains(Rules(), rule) {
		return fmt.Errorf("%w: %q is not one of %s", state.ErrInvalid, rule, strings.Join(Rules(), ", "))
	}
	return nil
}

// Asker runs verbs on a repository, which may be open in another process.
type Asker struct {
	Run  verb.Runner
	Time string // of changes, "" for when they are made
}

// Answer runs a verb and returns its answer, the last of several.
func (a Asker) Answer(ctx context.Context, v *verb.Spec, req any) (answer any, err error) {
	err = a.Run(ctx, v, req, func(got any) error { answer = got; return nil })
	return answer, err
}

// Merge merges as a request says, with a rule about conflicts. Its answer, nil for none, may come with an error, as
// that of a merge with conflicts.
func (a Asker) Merge(ctx context.Context, req *MergeRequest, rule Rule) (*Merged, error) {
	req.Conflicts, req.Time = rule, a.Time
	answer, err := a.Answer(ctx, &Merge.Spec, req)
	if err != nil && verb.OutcomeOf(ctx, err) == operation.Conflict {
		err = verb.Hintf(err, "see 'mnem merge --list', decide with 'mnem merge --resolve ITEM --take ours|theirs|base', "+
			"then 'mnem merge --continue' and sync again; or let --conflicts decide")
	}
	res, _ := answer.(*Merged)
	return res, err
}

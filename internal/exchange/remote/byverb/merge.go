package byverb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Rule says what is done where both sides changed one thing.
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

// Merge merges as a request says, with a rule about conflicts. Its answer, nil for none, may come with an error, as
// that of a merge with conflicts.
func (s *Side) Merge(ctx context.Context, req *branching.MergeRequest, rule Rule) (*branching.Merged, error) {
	req.Ours, req.Theirs, req.Newest, req.Time = rule == Ours, rule == Theirs, rule == Newest, s.Time
	answer, err := s.Run(ctx, &branching.Merge.Spec, req)
	if err != nil && verb.OutcomeOf(ctx, err) == operation.Conflict {
		err = verb.Hintf(err, "see 'mnem merge --list', decide with 'mnem merge --resolve ITEM --take ours|theirs|base', "+
			"then 'mnem merge --continue' and sync again; or let --conflicts decide")
	}
	res, _ := answer.(*branching.Merged)
	return res, err
}

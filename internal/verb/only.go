package verb

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/policy"
)

// ErrConfined is returned for what a caller that is confined to a branch may not run.
var ErrConfined = errors.New("not for a caller that is confined to a branch")

// Confine refuses a request of a caller that is confined to a branch, unless the verb and each field that is given say
// that they stay within it. It reads nothing of the repository.
func (s *Spec) Confine(req any, only string) error {
	refuse := func(what string) error {
		const hint = "ask the repository's owner, who confined the caller"
		return Hint(fmt.Errorf("%s: %w", what, ErrConfined), hint, hint)
	}
	switch err := core.CheckOnly(only); {
	case err != nil:
		return err
	case !s.Confined:
		return refuse(s.Name())
	}
	for _, f := range s.Fields() {
		switch given := f.Value(req); {
		case f.Wide && !given.IsZero():
			return refuse(s.Name() + " with " + f.Parameter())
		case f.Name == "branch" && given.String() != "" && given.String() != only:
			return &state.NotFoundError{What: "branch", Name: given.String()}
		}
	}
	return nil
}

// PolicyOnly returns the branch that the policy in a file confines an agent to, "" for none.
func PolicyOnly(path, agent string) (string, error) {
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	only, err := p.Only(agent)
	return only, PolicyHint(err)
}

// confine keeps a run of a confined caller to its branch, whatever HEAD follows.
func (s *Service) confine(ctx context.Context) (context.Context, error) {
	switch {
	case s.only == "":
		return ctx, nil
	case s.Commit.Branch != "" && s.Commit.Branch != s.only:
		return ctx, &state.NotFoundError{What: "branch", Name: s.Commit.Branch}
	}
	return core.Follow(context.WithValue(ctx, followingKey{}, (*operation.Following)(nil)), nil), nil
}

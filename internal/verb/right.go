package verb

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/policy"
)

// Right states the permission that an agent needs from a policy before a verb begins. Every declaration states
// one: the zero value fails a test.
type Right int

const (
	// NoRight is for verbs that read, record what was read, write derived data, or make another repository.
	NoRight Right = iota + 1
	// OwnRight is for verbs that need a rule with their own name, and with those of Runs, unless a request only reads.
	OwnRight
	// PeopleOnly is for verbs that no rule allows to an agent, unless a request only reads.
	PeopleOnly
)

// rightful is implemented by requests that need the right of their verb although they neither make an operation of
// the repository nor have an author, such as reviews, whose decisions are stored outside it.
type rightful interface{ NeedsRight() bool }

// Rights returns the names of the operations that a policy must allow an agent before a request begins, the verb's
// own first, and none for a request that needs no right.
func (s *Spec) Rights(req any) []string {
	q, also := req.(rightful)
	switch {
	case s.Right != OwnRight:
		return nil
	case !s.Authored(req) && !(also && q.NeedsRight()):
		return nil
	}
	return append([]string{s.Name()}, s.Runs...)
}

// Permit returns an error wrapping policy.ErrDenied if the policy in a file does not allow an agent one of some
// operations. The agent asked for the first, which needs the others too.
func Permit(path, agent string, rights []string) error {
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	for _, name := range rights {
		if err := PolicyHint(p.Operation(agent, name)); err != nil {
			if name != rights[0] {
				err = Hint(fmt.Errorf("%s needs the right to %s: %w", rights[0], name, err), hintOfPolicy, "")
			}
			return err
		}
	}
	return nil
}

// Guard refuses an operation that the policy in a file does not allow the agent, unless it needs no right, and adds
// to a stamp what refuses the changes that the policy does not allow, and the loss of commits that others have
// signed. own returns the key that the caller signs with, and whether there is one.
func Guard(by *state.Stamp, path, verb string, free bool, own func() (commit.Key, bool)) error {
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	if !free {
		if err := PolicyHint(p.Operation(by.Agent, verb)); err != nil {
			return err
		}
	}
	agent := by.Agent
	by.Signed = func(lost *state.SignedError) error {
		if key, ok := own(); ok && key == lost.Key {
			return nil
		}
		return p.Signed(agent, verb, lost)
	}
	if guard := p.Guard(agent, verb); guard != nil {
		by.Guard = func(t state.Touch) error { return PolicyHint(guard(t)) }
	}
	return nil
}

// hintOfPolicy is the next step of an agent that was refused.
const hintOfPolicy = "ask the repository's owner; 'mnem config policy' prints what is allowed"

// PolicyHint says what to do about a refusal.
func PolicyHint(err error) error {
	switch {
	case errors.Is(err, policy.ErrDamaged):
		return Hint(err, "'mnem config policy' tells what is wrong with the file; until then people may write", "")
	case errors.Is(err, policy.ErrDenied):
		return Hint(err, hintOfPolicy, "")
	}
	return err
}

// RequireSigned returns what refuses commits that no trusted key has signed.
func RequireSigned(trusted commit.Verifier) func(iter.Seq2[commit.LogEntry, error]) error {
	return func(commits iter.Seq2[commit.LogEntry, error]) error {
		err := core.RequireSigned(commits, trusted)
		if errors.Is(err, core.ErrUnsigned) {
			err = Hint(err, "see 'mnem key verify', 'mnem key trust', and the setting require-signed", "")
		}
		return err
	}
}

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

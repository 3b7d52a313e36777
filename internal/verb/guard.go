package verb

import (
	"errors"
	"iter"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/policy"
)

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

package ops

import (
	"errors"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/policy"
	"github.com/mnem-project/mnem/repo"
)

// recording are the verbs that change nothing of the memory themselves though they may write: they
// record what was read, or make a repository, which has no policy yet. Policies do not speak of them.
var recording = []string{"retrieve", "recall", "session_start", "session_advance", "session_end", "init"}

// Governed returns the names of the verbs that policies speak of: those that have an author.
func Governed() (names []string) {
	for _, s := range Table() {
		authored := slices.ContainsFunc(s.Fields(), func(f Field) bool { return f.Name == "author" })
		if authored && !slices.Contains(recording, s.Name()) {
			names = append(names, s.Name())
		}
	}
	return names
}

// PolicyFor returns the policy in a file, nil for none, or an error where it does not allow an agent a
// verb.
func PolicyFor(path, agent, verb string) (*policy.Policy, error) {
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	if slices.Contains(recording, verb) {
		return p, nil
	}
	return p, PolicyHint(p.Operation(agent, verb))
}

// Guard refuses a verb that the policy in a file does not allow the agent, and adds to a stamp what
// refuses the changes that it does not allow, and the loss of commits that others have signed. own
// returns the key that the caller signs with, and whether there is one.
func Guard(by *repo.Stamp, path, verb string, own func() (commit.Key, bool)) error {
	p, err := PolicyFor(path, by.Agent, verb)
	if err != nil {
		return err
	}
	agent := by.Agent
	by.Signed = func(lost *repo.SignedError) error {
		if key, ok := own(); ok && key == lost.Key {
			return nil
		}
		return p.Signed(agent, verb, lost)
	}
	if guard := p.Guard(agent, verb); guard != nil {
		by.Guard = func(t repo.Touch) error { return PolicyHint(guard(t)) }
	}
	return nil
}

// PolicyHint says what to do about a refusal.
func PolicyHint(err error) error {
	switch {
	case errors.Is(err, policy.ErrDamaged):
		return Hint(err, "'mnem policy check' tells what is wrong with the file; people may write meanwhile", "")
	case errors.Is(err, policy.ErrDenied):
		return Hint(err, "ask the repository's owner; 'mnem policy show' prints what is allowed", "")
	}
	return err
}

// RequireSigned returns what refuses commits that no trusted key has signed.
func RequireSigned(trusted commit.Verifier) func(iter.Seq2[commit.LogEntry, error]) error {
	return func(commits iter.Seq2[commit.LogEntry, error]) error {
		err := repo.RequireSigned(commits, trusted)
		if errors.Is(err, repo.ErrUnsigned) {
			err = Hint(err, "see 'mnem verify', 'mnem key trust', and the setting require-signed", "")
		}
		return err
	}
}

package verb

import (
	"fmt"

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

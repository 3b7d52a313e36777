package state

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

var (
	// ErrInvalid marks errors about the caller's input: a bad change, name or option.
	ErrInvalid = errors.New("invalid input")
	// ErrConflict marks errors about a state that changed since the caller read it.
	ErrConflict = errors.New("conflict")
)

// NotFoundError is returned when a repository, revision, node, edge or session does not exist.
// errors.Is(err, store.ErrNotFound) holds.
type NotFoundError struct {
	What string // what kind of thing
	Name string // as the caller gave it

	Candidates []Candidate // possible matches, if they were searched: see rank.Find

	// Hidden is the state of the node that matches the name exactly but is hidden by a mark, and ID its id. Both
	// are zero if there is none.
	Hidden graph.State
	ID     graph.ID
}

// Error names the thing, or the state that hides it if Hidden is set.
func (e *NotFoundError) Error() string {
	if e.Hidden != "" {
		return fmt.Sprintf("%s %q is %s", e.What, e.Name, e.Hidden)
	}
	return fmt.Sprintf("no %s %q", e.What, e.Name)
}

// Is reports whether target is store.ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == store.ErrNotFound }

// KindError is returned if a CID or revision names a valid record of the wrong kind. errors.Is(err, ErrInvalid) holds.
type KindError struct {
	Name string // as the caller gave it
	Kind string // its actual kind, "" for a block that is no record
	Want string
}

// Error names the actual and the wanted kind.
func (e *KindError) Error() string {
	have := "block that is no record"
	if e.Kind != "" {
		have = e.Kind
	}
	return fmt.Sprintf("%s: %q is %s, not %s", ErrInvalid, e.Name, withArticle(have), withArticle(e.Want))
}

// Is reports whether target is ErrInvalid.
func (e *KindError) Is(target error) bool { return target == ErrInvalid }

func withArticle(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// AmbiguousError is returned when a prefix matches several things. errors.Is(err, ErrInvalid) holds.
type AmbiguousError struct {
	What string
	Name string
}

// Error asks for a longer prefix.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is the prefix of several %ss: give more of it", e.Name, e.What)
}

// Is reports whether target is ErrInvalid.
func (e *AmbiguousError) Is(target error) bool { return target == ErrInvalid }

// ExpectError is returned by a write if the branch is not at the commit the caller expected. errors.Is(err,
// ErrConflict) holds.
type ExpectError struct{ Want, Have ipld.CID }

// Error names both commits; either may be missing.
func (e *ExpectError) Error() string {
	return fmt.Sprintf("branch is at %s, not at the expected %s", OrNone(e.Have), OrNone(e.Want))
}

// Is reports whether target is ErrConflict.
func (e *ExpectError) Is(target error) bool { return target == ErrConflict }

// NodeExpectError is returned by a write if a node does not have the version that the caller expected; an undefined
// version means that the node does not exist. errors.Is(err, ErrConflict) holds.
type NodeExpectError struct {
	Node       graph.ID
	Want, Have ipld.CID
}

// Error names both versions of the node; either may be missing.
func (e *NodeExpectError) Error() string {
	version := func(c ipld.CID) string {
		if !c.Defined() {
			return "not there"
		}
		return c.String()
	}
	return fmt.Sprintf("node %s is %s; expected: %s", e.Node, version(e.Have), version(e.Want))
}

// Is reports whether target is ErrConflict.
func (e *NodeExpectError) Is(target error) bool { return target == ErrConflict }

// OrNone returns the text of a commit's CID, and "no commit" for the undefined one.
func OrNone(c ipld.CID) string {
	if !c.Defined() {
		return "no commit"
	}
	return c.String()
}

// Invalidf returns an error that wraps ErrInvalid and whatever fmt.Errorf wraps for the same arguments.
func Invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}

// Candidate is a node that a text may mean.
type Candidate struct {
	ID    string // the shortest prefix that is unique in the commit
	Title string // the beginning of its summary, else its key, on one line; "" if that holds a credential
}

// ErrSigned marks the refusal to replace or remove a commit that is signed by a key.
var ErrSigned = errors.New("it needs that key, or a policy that allows it")

// SignedError is returned if a signed commit would be amended, or removed from a branch or tag, and the caller
// neither signs with that key nor has permission. errors.Is(err, ErrSigned) holds.
type SignedError struct {
	Commit ipld.CID
	Key    commit.Key
	Ref    graph.RefName // the branch or tag that would lose it
}

// Error names the commit, its key's fingerprint and the ref, and two ways to proceed.
func (e *SignedError) Error() string {
	return fmt.Sprintf("commit %s is signed by key %s: %v, to take it off %s; sign with that key, or commit "+
		"upon it", e.Commit, e.Key.Fingerprint(), ErrSigned, e.Ref)
}

// Is reports whether target is ErrSigned.
func (e *SignedError) Is(target error) bool { return target == ErrSigned }

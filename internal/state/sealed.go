package state

import (
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// ErrSigned marks the refusal to replace a commit that a key has signed, or to take it away.
var ErrSigned = errors.New("it needs that key, or a policy that allows it")

// SignedError is returned where a commit that a key has signed would be replaced by an amended one, or
// be on a branch or tag no more, and the caller neither signs with that key nor may do so otherwise.
// errors.Is(err, ErrSigned) holds.
type SignedError struct {
	Commit ipld.CID
	Key    commit.Key
	Ref    graph.RefName // the branch or tag that it would be taken off
}

func (e *SignedError) Error() string {
	return fmt.Sprintf("commit %s is signed by key %s: %v, to take it off %s; sign with that key, or commit "+
		"upon it", e.Commit, e.Key.Fingerprint(), ErrSigned, e.Ref)
}

// Is reports whether target is ErrSigned.
func (e *SignedError) Is(target error) bool { return target == ErrSigned }

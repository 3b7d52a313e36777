package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

// Stamp says who acts, and when. Layers below the caller read neither clock nor environment, so that equal calls
// give equal bytes.
type Stamp struct {
	Author string     // required: 1 to graph.MaxActor bytes without control characters
	Agent  string     // the program that acts for the author, if any
	Task   string     // what it works on, if any
	Time   graph.Time // of commits and what they hold; required for writes. See core.Options.Now
	// Command is shown by the operation log: the verb, flag names and ids, never values. It is required for
	// writes, 1 to commit.MaxCommand words. history.Undo treats mnem's own operations specially: those whose first
	// word is "purge", "capture" or "embed-rest".
	Command []string
	// Sign signs the resulting commits, on the calling goroutine while other writers wait; nil leaves them
	// unsigned. Its signatures must be valid; if it fails nothing is written. For a slow key it returns an
	// *UnsignedError: see Signatures. A server has none of its callers' keys and leaves it nil.
	Sign commit.SignFunc
	// Head, if not nil, is the commit that HEAD must lead to, undefined for none yet: otherwise nothing is written
	// and the error is an *ExpectError.
	Head *ipld.CID
	// Guard may refuse what an operation changes; nil for a caller that may do anything.
	Guard Guard
	// Secrets says how credentials in written data are handled: by default they are refused.
	Secrets SecretOptions
	// Signed, if not nil, is asked about each signed commit before it is removed from a branch or a tag: by
	// amending, undoing, moving, resetting or removing. Its error refuses the operation. nil only refuses to amend
	// such a commit without the same key.
	Signed func(*SignedError) error
	// Meaning embeds the nodes whose texts change, in the same commit: see MeaningNodes. nil for none.
	Meaning Meaning
}

// Fresh holds what a transaction knows of its new facts, to build their indexes.
type Fresh struct {
	Draft *index.Draft // of nodes; nil for none
	Trees *FreshTrees  // nil for none
}

// EditOrBuild applies edits to a tree; nil is an empty tree.
func EditOrBuild(ctx context.Context, n *prolly.Nodes, m *prolly.Map, edits []prolly.Edit) (*prolly.Map, error) {
	if m == nil {
		var err error
		if m, err = EmptyTree(ctx, n); err != nil {
			return nil, err
		}
	}
	return m.Edit(ctx, edits)
}

// EmptyTree returns a tree without entries; its one block is written through n.
func EmptyTree(ctx context.Context, n *prolly.Nodes) (*prolly.Map, error) {
	return n.Build(ctx, func(func(prolly.Entry, error) bool) {})
}

// TouchKind says what is touched.
type TouchKind string

// Touch is one change that an operation makes to what a ref leads to.
type Touch struct {
	Kind TouchKind
	Ref  graph.RefName // "" for an erasure, which changes all of history
	ID   graph.ID      // of the node or edge
	Type string        // its type; changing the type makes two touches
	// Source is the type of the edge's source node, "" if that does not exist.
	Source string
}

// Guard decides whether an operation may be recorded. It is called on the writer's goroutine, while other writers
// wait, at least once for each thing that the operation changes in what HEAD, a branch, a stage or a merge in
// progress leads to, by whatever means. Its first error refuses the operation, which then changes nothing and
// returns the error to the caller.
//
// A branch that is created or deleted is compared with what HEAD leads to before the operation; a stage with the
// commit it builds on. So a new branch at HEAD touches nothing, and a Guard cannot be bypassed by removing a branch
// and creating it again. A tag of a commit that comes with the operation is compared with what HEAD leads to, too.
type Guard func(Touch) error

// UnsignedError is returned by a transaction whose records lack signatures; it wrote nothing. The same transaction
// succeeds with a Stamp that has the signatures, unless its records have changed.
type UnsignedError struct {
	Records [][]byte // without their signatures
	// Turn names the writer's turn that is kept for the signatures, "" for none.
	Turn string
}

func (e *UnsignedError) Error() string {
	return fmt.Sprintf("%d records lack signatures", len(e.Records))
}

// Signatures maps the hexadecimal SHA-256 of a record to its signature.
type Signatures map[string][]byte

// Add adds the signature of a record.
func (s Signatures) Add(unsigned, signature []byte) { s[recordKey(unsigned)] = signature }

// Sign is a commit.SignFunc. It returns an *UnsignedError for a record that has none.
func (s Signatures) Sign(unsigned []byte) ([]byte, error) {
	if signature := s[recordKey(unsigned)]; signature != nil {
		return signature, nil
	}
	return nil, &UnsignedError{Records: [][]byte{bytes.Clone(unsigned)}}
}

func recordKey(unsigned []byte) string {
	sum := sha256.Sum256(unsigned)
	return hex.EncodeToString(sum[:])
}

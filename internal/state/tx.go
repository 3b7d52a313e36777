package state

import (
	"context"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

// Stamp says who does something, and when. Nothing below the caller reads a clock or the
// environment, so that the same calls give the same bytes.
type Stamp struct {
	Author string     // required: 1 to graph.MaxActor bytes without control characters
	Agent  string     // the program that acts for the author, if any
	Task   string     // what it works on, if any
	Time   graph.Time // of commits and what they hold; required for writes. See core.Options.Now
	// Command is what the operation log shows: the verb, flag names and ids, never values. It is required for
	// writes, 1 to commit.MaxCommand words. "purge", "capture" and "embed-rest" as the first word are those of
	// mnem: history.Undo treats them apart.
	Command []string
	// Sign makes the signatures of the commits that come of it, on the calling goroutine while
	// other writers wait; nil leaves them unsigned. What it returns must hold, and where it fails
	// nothing is written. A server has no key of its callers and leaves it nil.
	Sign commit.SignFunc
	// Head, where given, is the commit that HEAD must lead to, undefined for none yet: else nothing
	// is written and the error is an *ExpectError.
	Head *ipld.CID
	// Guard may refuse what an operation changes; nil for a caller that may do anything.
	Guard Guard
	// Secrets says what becomes of credentials in what is written: they are refused unless it says
	// otherwise.
	Secrets SecretOptions
	// Signed, where given, is asked about each commit that a key has signed before it is taken off a
	// branch or a tag: by amending it, undoing, moving, resetting or removing. What it returns refuses
	// the operation. nil refuses no more than to amend such a commit without the same key.
	Signed func(*SignedError) error
	// Meaning embeds the nodes whose texts change, in the same commit: see MeaningNodes. nil for none.
	Meaning Meaning
}

// Fresh is what is known of the facts that a transaction made, for their indexes.
type Fresh struct {
	Draft *index.Draft // of nodes; nil for none
	Trees *FreshTrees  // nil for none
}

// EditOrBuild applies edits to a tree, nil meaning an empty one.
func EditOrBuild(
	ctx context.Context, n *prolly.Nodes, m *prolly.Map, edits []prolly.Edit,
) (*prolly.Map, error) {
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

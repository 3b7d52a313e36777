package repo

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// putVerb is the command of operations of Put whose stamp names none.
const putVerb = "put"

// Node returns a change that sets the type and the summary of the node of a key, and makes the node if it is new. The
// summary is left alone if it is empty; other fields are those of graph.NodeChange.
func Node(key, typ, summary string) graph.Change {
	n := &graph.NodeChange{Key: key, Type: typ}
	if summary != "" {
		n.Summary = &summary
	}
	return graph.Change{Node: n}
}

// Put commits facts to the branch that HEAD is on, all or nothing, as Commit does with Options.Stamp: what its Author,
// Agent, Task, Sign, Guard, Secrets and Signed say holds for the commit. If it has no Time, Options.Now gives one; if
// it has no Command, that is "put". Facts that are there already make no commit (CommitResult.NoChange). Put returns
// an error that wraps ErrInvalid if there is no fact, author or time, and the errors of Commit.
func (r *Repo) Put(ctx context.Context, message string, facts ...graph.Change) (*CommitResult, error) {
	by := r.stamp
	if by.Time == 0 && r.clock != nil {
		by.Time = r.clock()
	}
	if len(by.Command) == 0 {
		by.Command = []string{putVerb}
	}
	switch {
	case len(facts) == 0:
		return nil, invalidf("no fact to put")
	case by.Author == "":
		return nil, invalidf("no author: set Options.Stamp")
	case by.Time == 0:
		return nil, invalidf("no time: set Options.Now, or the time of Options.Stamp")
	}
	facts = slices.Clone(facts)
	changes := func(yield func(graph.Change, error) bool) {
		for _, c := range facts {
			if !yield(c, nil) {
				return
			}
		}
	}
	return r.Commit(ctx, changes, CommitOptions{Stamp: by, Message: message})
}

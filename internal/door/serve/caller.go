package serve

import (
	"context"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// CallerOf returns what the token of a request says of who asks, for the handler of a Route: its
// author, its agent or else its name, and the branch that it is confined to.
func CallerOf(ctx context.Context) operation.Caller {
	by := whoOf(ctx)
	t := by.token
	if t == nil {
		return operation.Caller{Only: by.only}
	}
	return operation.Caller{Author: t.Author, Agent: firstOf(t.Agent, t.Name), Only: by.only}
}

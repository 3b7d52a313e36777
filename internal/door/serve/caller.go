package serve

import (
	"context"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// CallerOf returns what the token of a request says of who asks, for the handler of a Route: its
// author, and its agent or else its name. It is empty for a request without a token.
func CallerOf(ctx context.Context) operation.Caller {
	t := whoOf(ctx).token
	if t == nil {
		return operation.Caller{}
	}
	return operation.Caller{Author: t.Author, Agent: firstOf(t.Agent, t.Name)}
}

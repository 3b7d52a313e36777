package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	mostCompletions = 100   // the protocol's bound
	mostKeys        = 1_000 // that are looked through
)

// complete offers the names that may stand in an argument: revisions for commits and diffs, keys for
// nodes. Whatever goes wrong, there is nothing to offer.
func (s *Server) complete(
	ctx context.Context, req *sdk.CompleteRequest,
) (*sdk.CompleteResult, error) {
	c := &call{Server: s, args: arguments{}}
	c.caller, c.client = s.caller(ctx, req.Session.ID(), req.ClientInfo())
	var names []string
	var err error
	switch req.Params.Argument.Name {
	case "from", "to", "revision", "at", "branch":
		names, err = c.refs(ctx)
	case "node":
		names, err = c.keys(ctx)
	case "type":
		names, err = c.types(ctx)
	}
	if err != nil {
		s.log.Debug("no completion", "argument", req.Params.Argument.Name, "error", err)
	}
	given := req.Params.Argument.Value
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, given) })
	slices.Sort(names)
	names = slices.Compact(names)
	total := len(names)
	names = names[:min(total, mostCompletions)]
	if names == nil {
		names = []string{}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{
		Values: names, Total: total, HasMore: total > len(names),
	}}, nil
}

// refs returns the names of branches and tags, and HEAD.
func (c *call) refs(ctx context.Context) ([]string, error) {
	names := []string{"HEAD", "HEAD~1"}
	for _, name := range []string{"branch", "tag"} {
		list, err := c.names(ctx, name, "", "name")
		if err != nil {
			return names, err
		}
		names = append(names, list...)
	}
	return names, nil
}

// keys returns keys of nodes, in their order.
func (c *call) keys(ctx context.Context) ([]string, error) {
	return c.names(ctx, "ls", "nodes", "key")
}

// types returns the types of nodes there are.
func (c *call) types(ctx context.Context) ([]string, error) {
	return c.names(ctx, "stats", "node_types", "type")
}

// names returns one member of each entry of the list, or of each line, that an operation answers.
func (c *call) names(ctx context.Context, name, list, member string) ([]string, error) {
	op, err := c.operation(name)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	if flagged(op, "sort") != nil {
		set(&ask, flagged(op, "sort"), json.RawMessage(`"key"`))
		set(&ask, flagged(op, "limit"), encode(mostKeys))
		set(&ask, flagged(op, "all"), json.RawMessage(`true`))
	}
	doc, err := c.read(ctx, ask, []field{{name: list, items: []string{member}}})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range doc.pieces {
		if n := p.value.Find(member).Word(); n != "" {
			names = append(names, n)
		}
	}
	return names, nil
}

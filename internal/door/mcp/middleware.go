package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// middleware answers what the library leaves open: the list of resources, which depends on the memory as
// it is, and calls of tools that are not there.
func (s *Server) middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch r := req.(type) {
		case *sdk.ListResourcesRequest:
			if s.locate(ctx, r.Session, r, nil) != nil {
				return &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}, nil // it cannot be asked by this answer
			}
			return s.listResources(ctx, r)
		case *sdk.CompleteRequest:
			if s.locate(ctx, r.Session, r, nil) != nil {
				return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
			}
		case *sdk.SubscribeRequest:
			if s.locate(ctx, r.Session, r, nil) != nil {
				return nil, rpcError(ctx, invalid("it is not known yet which project is open", "read the resource first"))
			}
		case *sdk.ListToolsRequest:
			return s.listTools(ctx, r, next, method)
		case *sdk.CallToolRequest:
			if err := s.knows(r.Params.Name); err != nil {
				return nil, err
			}
		}
		return next(ctx, method, req)
	}
}

// listTools leaves out the tools that a caller who is confined to a branch cannot call.
func (s *Server) listTools(
	ctx context.Context, req *sdk.ListToolsRequest, next sdk.MethodHandler, method string,
) (sdk.Result, error) {
	res, err := next(ctx, method, req)
	list, ok := res.(*sdk.ListToolsResult)
	if who, _ := s.caller(ctx, req.Session.ID(), req.ClientInfo()); err != nil || !ok || who.Only == "" {
		return res, err
	}
	some := *list
	some.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *sdk.Tool) bool {
		return slices.ContainsFunc(s.tools(), func(own *tool) bool {
			op, err := s.operation(own.operation)
			return own.name == t.Name && (err != nil || !op.Confined)
		})
	})
	return &some, nil
}

// knows refuses a tool that the server does not have, as the protocol wants it: no answer of a tool,
// but an error of the call.
func (s *Server) knows(name string) error {
	var names []string
	for _, t := range s.tools() {
		if t.name == name {
			return nil
		}
		names = append(names, t.name)
	}
	if now := operation.Renamed(name); now != "" {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("'%s' is now '%s'", name, now)}
	}
	message := fmt.Sprintf("unknown tool %q; there are %s", clipText(name, 100), strings.Join(names, ", "))
	if s.opt.Profile != ProfileFull {
		message += "; 'mnem mcp --profile full' has more"
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: guard.Message(message)}
}

// rpcError is an error if the protocol has no answer for one.
func rpcError(ctx context.Context, err error) error {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return err
	}
	e := describe(ctx, err)
	message := e.Code + ": " + e.Message
	if e.Hint != "" {
		message += " (" + e.Hint + ")"
	}
	code := int64(jsonrpc.CodeInternalError)
	switch e.Code {
	case operation.Invalid.Code, operation.Usage.Code, operation.NotFound.Code:
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: message}
}

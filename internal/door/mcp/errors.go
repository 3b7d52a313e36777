package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

func invalid(message, hint string) error {
	return &operation.Error{Outcome: operation.Invalid, Message: message, Hint: hint}
}

type errorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Kind    string `json:"kind"` // of the refusal, see operation.Outcome

	Candidates []operation.Candidate `json:"candidates,omitempty"` // see operation.Error
	// Answer is the operation's answer next to the error, such as the conflicts of a commit.
	Answer json.RawMessage `json:"answer,omitempty"`
}

type badNews struct {
	outcome operation.Outcome
	answer  value // the zero value for none
}

func (e *badNews) Error() string { return e.outcome.When }

// newsTokens bounds the answer that comes with bad news.
const newsTokens = 2000

func describe(ctx context.Context, err error) errorJSON {
	out := describeCode(ctx, err)
	out.Message, out.Hint = guard.Message(out.Message), guard.Message(out.Hint)
	row, _ := operation.WithCode(out.Code)
	out.Kind = row.Refusal()
	return out
}

func describeCode(ctx context.Context, err error) errorJSON {
	if news, ok := errors.AsType[*badNews](err); ok {
		out := errorJSON{Code: news.outcome.Code, Message: news.outcome.When}
		if !news.answer.IsZero() {
			answer, _ := shrink(news.answer, newsTokens) // clipped texts say so
			out.Answer = written(answer)
		}
		return out
	}
	if failed, ok := errors.AsType[*operation.Error](err); ok {
		// the command line names flags with dashes, tools do not
		message := strings.TrimPrefix(failed.Message, "--")
		return errorJSON{
			Code: failed.Outcome.Code, Message: clipText(message, maxMessage), Hint: agentHint(failed.Hint),
			Candidates: failed.Candidates,
		}
	}
	if ctx.Err() != nil {
		return errorJSON{Code: operation.Interrupted.Code, Message: "the call was cancelled; nothing half done stays"}
	}
	return errorJSON{Code: operation.Failed.Code, Message: clipText(err.Error(), maxMessage)}
}

// agentHint says of a next step that is a command line that it is one: not every client has a shell.
func agentHint(s string) string {
	if strings.Contains(s, "'mnem ") || strings.Contains(s, "--") {
		s = "in a shell: " + s
	}
	return clipText(s, maxMessage)
}

func isNotFound(err error) bool {
	failed, ok := errors.AsType[*operation.Error](err)
	return ok && failed.Outcome == operation.NotFound
}

const maxMessage = 1000 // scalars of a message or hint: names in it may be long

// failure is the answer of a tool whose call failed. It has no structured content, which would have
// to be of the form of the tool's output.
func failure(ctx context.Context, err error) *sdk.CallToolResult {
	body := struct {
		Error errorJSON `json:"error"`
	}{describe(ctx, err)}
	return &sdk.CallToolResult{
		IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(encode(body))}},
	}
}

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

func rpcError(ctx context.Context, err error) error {
	if _, wire := errors.AsType[*jsonrpc.Error](err); wire {
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

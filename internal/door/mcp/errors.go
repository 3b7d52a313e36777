package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

func invalid(message, hint string) error {
	return &operation.Error{Outcome: operation.Invalid, Message: message, Hint: hint}
}

// errorJSON is the form of an error in the text of a tool's answer.
type errorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Kind    string `json:"kind"` // of the refusal, see operation.Outcome

	Candidates []operation.Candidate `json:"candidates,omitempty"` // see operation.Error
	// Answer is the operation's answer next to the error, such as the conflicts of a commit.
	Answer json.RawMessage `json:"answer,omitempty"`
}

// badNews is an answer that says that something did not succeed.
type badNews struct {
	outcome operation.Outcome
	answer  value // the zero value for none
}

func (e *badNews) Error() string { return e.outcome.When }

// newsTokens bounds the answer that comes with bad news.
const newsTokens = 2000

// describe says what went wrong by the error table.
func describe(ctx context.Context, err error) errorJSON {
	out := describeCode(ctx, err)
	out.Message, out.Hint = guard.Message(out.Message), guard.Message(out.Hint)
	row, _ := operation.WithCode(out.Code)
	out.Kind = row.Refusal()
	return out
}

func describeCode(ctx context.Context, err error) errorJSON {
	var failed *operation.Error
	var news *badNews
	switch {
	case errors.As(err, &news):
		out := errorJSON{Code: news.outcome.Code, Message: news.outcome.When}
		if !news.answer.IsZero() {
			answer, _ := shrink(news.answer, newsTokens) // clipped texts say so
			out.Answer = written(answer)
		}
		return out
	case errors.As(err, &failed):
		// the command line names flags with dashes, tools do not
		message := strings.TrimPrefix(failed.Message, "--")
		return errorJSON{
			Code: failed.Outcome.Code, Message: clipText(message, maxMessage), Hint: agentHint(failed.Hint),
			Candidates: failed.Candidates,
		}
	case ctx.Err() != nil:
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

// isNotFound reports whether an error says that what was asked for is not there.
func isNotFound(err error) bool {
	var failed *operation.Error
	return errors.As(err, &failed) && failed.Outcome == operation.NotFound
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

package mcp

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/operation"
)

// codeInvalid is the code of the error table for arguments that make no sense.
const codeInvalid = "invalid_input"

func invalid(message, hint string) error {
	return &operation.Error{
		Outcome: operation.Outcome{Code: codeInvalid, Exit: 1, HTTP: 400},
		Message: message, Hint: hint,
	}
}

// errorJSON is the form of an error in the text of a tool's answer.
type errorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// describe says what went wrong by the error table.
func describe(ctx context.Context, err error) errorJSON {
	var failed *operation.Error
	switch {
	case errors.As(err, &failed):
		return errorJSON{failed.Outcome.Code, clipText(failed.Message, maxMessage), shellHint(failed.Hint)}
	case ctx.Err() != nil:
		return errorJSON{Code: "interrupted", Message: "the call was cancelled; nothing half done stays"}
	}
	return errorJSON{Code: "failed", Message: clipText(err.Error(), maxMessage)}
}

// shellHint says of a next step that is a command line that it is one: not every client has a shell.
func shellHint(s string) string {
	if strings.Contains(s, "'mnem ") || strings.Contains(s, "--") {
		s = "in a shell: " + s
	}
	return clipText(s, maxMessage)
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

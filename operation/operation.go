// Package operation is what can be asked of a repository from outside: one table of operations that
// the command line, the MCP server and the HTTP API share, so that the same request gives the same
// bytes through each, and one table of what can become of a request.
//
// The command line makes the table from its commands (each flag is a parameter) and runs it; package
// serve and package mcp see this package alone, never a repository.
package operation

import (
	"context"
	"encoding/json"
	"io"
)

// Effect is the most that an operation does.
type Effect int

const (
	Reads    Effect = iota + 1 // changes nothing that a reader can see
	Writes                     // makes an operation of the repository, which undo takes back
	Destroys                   // removes what undo cannot bring back
)

// Kind is the type of a parameter's value.
type Kind int

const (
	String  Kind = iota + 1
	Integer      // an int64
	Boolean
	Strings // a list of strings
	Lines   // a list of JSON objects, which become the change lines a command reads
)

// Param is one parameter of an operation.
type Param struct {
	Name     string // in snake_case, unique within the operation
	Flag     string // of the command, without dashes; "" for words after the flags and for Lines
	Kind     Kind
	Doc      string   // one phrase, as the command's help has it
	Enum     []string // the values it may have, nil for any
	Required bool
}

// Operation is one thing that can be asked of a repository.
type Operation struct {
	Name    string   // in snake_case, unique: "retrieve", "session_start"
	Command []string // the words of the command: "session", "start"
	Title   string   // a few words for people
	Doc     string   // what it does, one paragraph
	Params  []Param  // positional ones first, in their order
	Effect  Effect
	// Idempotent is whether asking twice does no more than asking once.
	Idempotent bool
	// Stream is whether an answer is any number of JSON values, one a line, instead of one.
	Stream bool
	// Shapes are the JSON Schemas that an answer, or each line of a Stream, may have.
	Shapes []json.RawMessage
}

// Caller is who asks. Empty fields are as the configuration says.
type Caller struct {
	Author string
	Agent  string // the program that acts for the author; policies speak of it
	Task   string
	Branch string // that is written to; "" for the one HEAD is on
	// Session is the name of the session that answers are recorded in, "" for none.
	Session string
}

// Call is one request.
type Call struct {
	Operation *Operation
	Args      map[string]json.RawMessage // by the name of the parameter
	Caller    Caller
	// Text asks for the answer as people read it on the command line, instead of JSON.
	Text bool
}

// Runner runs calls. Safe for concurrent use.
type Runner interface {
	// Run writes the answer to out and returns what became of the call. An answer can have bad news,
	// as that of a replay which differs: then the outcome is not OK and the error nil. An error is
	// an *Error, but for one of out. After an error what was written to out is no answer.
	Run(ctx context.Context, call Call, out io.Writer) (Outcome, error)
}

// Error is a call that failed.
type Error struct {
	Outcome Outcome
	Message string // one line
	Hint    string // the next step, "" for none
}

func (e *Error) Error() string { return e.Message }

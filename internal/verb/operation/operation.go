// Package operation defines the requests to a repository from outside: one table of operations that the command line,
// the MCP server and the HTTP API share, so that the same request gives the same bytes through each, and one table of
// outcomes.
//
// The packages of internal/verb declare and run the verbs from which the table is made. Package serve and package mcp
// see this package alone, never a repository.
package operation

import (
	"context"
	"encoding/json"
	"io"
	"slices"
)

// Effect is the most that an operation does.
type Effect int

const (
	Reads    Effect = iota + 1 // changes nothing that a reader can see
	Writes                     // makes an operation of the repository, which undo takes back
	Destroys                   // removes what undo cannot bring back
)

// String is the scope of a token that is needed: read, write or admin.
func (e Effect) String() string {
	switch e {
	case Reads:
		return "read"
	case Writes:
		return "write"
	}
	return "admin"
}

// ParamKind is the type of a parameter's value.
type ParamKind int

const (
	String  ParamKind = iota + 1
	Integer           // an int64
	Number            // any JSON number
	Boolean
	Strings // a list of strings
	Lines   // a list of JSON objects, which become the lines that a command reads
)

// Param is one parameter of an operation.
type Param struct {
	Name     string // in snake_case, unique within the operation
	Flag     string // of the command, without dashes; "" for words after the flags and for Lines
	Kind     ParamKind
	Doc      string   // one phrase, as the command's help has it
	Enum     []string // the values it may have, nil for any; of Strings each item
	Required bool
	// True is the value of the flag for true, "" for true itself; for false the flag is left out. A String with it
	// takes true and false besides its texts.
	True string
	// Effect is the least effect of the operation if the parameter is given and not false: a command that lists can
	// make or remove too. Zero if it does not change the effect.
	Effect Effect
	// Varies is whether the parameter makes a Pure operation depend on more than the commit.
	Varies bool
}

// Media types of bodies and answers.
const (
	MediaJSON   = "application/json"
	MediaNDJSON = "application/x-ndjson"
	MediaCAR    = "application/vnd.ipld.car"
)

// Operation is one thing that can be asked of a repository.
type Operation struct {
	Name    string   // in snake_case, unique: "retrieve", "session_start"
	Command []string // the words of the command, and flags that it always has: "session", "start"
	Title   string   // a few words for people
	Doc     string   // description, one paragraph
	Params  []Param  // positional ones first, in their order
	Effect  Effect   // the most that it does without parameters that have an effect of their own
	// Idempotent is whether asking twice does no more than asking once.
	Idempotent bool
	// Pure is whether an answer that names one commit depends on it and the arguments alone, so that
	// the same question about the same commit needs no second answer.
	Pure bool
	// Confined is whether a caller that is confined to a branch may ask for it.
	Confined bool
	// Body is the media type of standard input, "" for none: lines, which a parameter of Kind Lines may hold instead,
	// or a CAR file, which no parameter can hold.
	Body string
	// Answer is the media type of the answer: JSON, NDJSON for any number of JSON values, one a line, or a CAR file.
	Answer string
	// Shapes are the possible shapes of an answer, or of each line of one, as Schema reads them.
	Shapes []string
}

// Stream is whether an answer is any number of JSON values, one a line, instead of one.
func (o *Operation) Stream() bool { return o.Answer == MediaNDJSON }

// Param returns the parameter of a name, nil for none.
func (o *Operation) Param(name string) *Param {
	for i := range o.Params {
		if o.Params[i].Name == name {
			return &o.Params[i]
		}
	}
	return nil
}

// EffectOf returns the most that the operation does with arguments.
func (o *Operation) EffectOf(args map[string]json.RawMessage) Effect {
	most := o.Effect
	for i := range o.Params {
		p := &o.Params[i]
		if v, given := args[p.Name]; given && p.Effect > most && string(v) != "false" {
			most = p.Effect
		}
	}
	return most
}

// IsPure is whether the operation is pure with arguments.
func (o *Operation) IsPure(args map[string]json.RawMessage) bool {
	for i := range o.Params {
		if _, given := args[o.Params[i].Name]; given && o.Params[i].Varies {
			return false
		}
	}
	return o.Pure
}

// Call is one request.
type Call struct {
	Operation *Operation
	Args      map[string]json.RawMessage // by the name of the parameter
	// Body is read if the operation has one and no Lines are given; nil for none.
	Body   io.Reader
	Caller Caller
	// Text asks for the answer as people read it on the command line, instead of JSON.
	Text bool
	// Answer takes each answer that would be written as JSON, nil to have it written. What another process
	// answered is written all the same.
	Answer func(Answer) error
}

// Runner runs calls. Safe for concurrent use.
type Runner interface {
	// Run writes the answer to out and returns the outcome of the call. An answer can be bad news, like that of a
	// replay that differs: then the outcome is not OK and the error nil. An error is an *Error, or an error of out.
	// After an error the bytes written to out are not an answer.
	Run(ctx context.Context, call Call, out io.Writer) (Outcome, error)
}

// Candidate is a node that a name may mean.
type Candidate struct {
	ID    string `json:"id"` // enough digits to be unambiguous
	Title string `json:"title"`
}

// Error is a call that failed.
type Error struct {
	Outcome Outcome
	Message string // one line
	Hint    string // the next step, "" for none
	Place   Place  // the line that it is about, the zero Place for none
	// Candidates are nodes that the call may mean, if a name is not certain.
	Candidates []Candidate
	// Unknown is whether the outcome of a write is unknown: the caller must check before it repeats the write.
	Unknown bool
}

func (e *Error) Error() string { return e.Message }

// Place is the position of a line that an error is about.
type Place struct {
	Line int    `json:"line,omitempty"` // from 1
	Name string `json:"name,omitempty"` // how the message names it
}

// Confined returns the operations that a caller may ask for who is confined to a branch.
func Confined(all []Operation) []Operation {
	return slices.DeleteFunc(slices.Clone(all), func(o Operation) bool { return !o.Confined })
}

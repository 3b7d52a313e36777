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
	"net/http"
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

// Caller is who asks. Empty fields are as the configuration says.
type Caller struct {
	Author string `json:"author,omitempty"`
	Agent  string `json:"agent,omitempty"` // the program that acts for the author, as policies name it
	Task   string `json:"task,omitempty"`
	Branch string `json:"branch,omitempty"` // that is written to; "" for the one HEAD is on
	Stage  string `json:"stage,omitempty"`
	// Only is the branch that the caller is confined to, "" for none. Tokens, policies and the commands of servers set
	// it, never a request.
	Only string `json:"only,omitempty"`
	// Session is the name of the session that answers are recorded in, "" for none. With one, a reading operation may
	// write a record of its answer.
	Session string `json:"session,omitempty"`
	// NoSign is whether commits are left unsigned whatever is configured, in the process that the caller asks.
	NoSign bool   `json:"-"`
	Time   string `json:"time,omitempty"` // that counts as now, RFC 3339
	// Key names the request in the operation log, "" for none: a hash of the caller's name for it.
	Key string `json:"key,omitempty"`
	// Following is the caller's HEAD, nil for the repository's own.
	Following *Following `json:"following,omitempty"`
	// Remote is whether the caller asks through a server, and Global whether that lets its questions be asked of
	// the user's own repository too.
	Remote bool `json:"remote,omitempty"`
	Global bool `json:"global,omitempty"`
}

// KeyWord begins the word in the operation log that holds a caller's Key.
const KeyWord = "key="

type callerKey struct{}

// WithCaller returns a context that says who asks.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns who asks, and whether the context says so.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// Following is the HEAD of a caller whose git work tree the memory follows.
type Following struct {
	Work   string `json:"work"`            // the git work tree
	Git    string `json:"git"`             // the branch of git, "" if unknown
	Branch string `json:"branch"`          // its memory branch, "" for the branch of the repository's own HEAD
	Doing  string `json:"doing,omitempty"` // "rebase" or "bisect", if one of these is in progress on the branch
	// From are the memory branches of the branches that it started from, the nearest first: until it has a commit, the
	// first that exists is read. The process that opens the repository fills it in.
	From []string `json:"-"`
	// ReadOnly is why nothing is written to the branch, "" if it may be.
	ReadOnly string `json:"read_only,omitempty"`
	// Unknown is whether git could not determine HEAD; ReadOnly has the reason. Requests that depend on HEAD are then
	// refused, unless Branch exists.
	Unknown bool `json:"unknown,omitempty"`
}

// Outcome is a row of the error table: what became of a call, and how each surface says so. For MCP
// every row but OK is an error of the tool.
type Outcome struct {
	Code string // in the JSON form of errors
	Exit int    // exit code of the process
	HTTP int    // status of the response
	When string // for help and docs
}

// The error table. The help of the command line and the docs are made from it.
var (
	OK       = Outcome{"ok", 0, http.StatusOK, "success; also: nothing to commit, an empty answer, a diff with changes"}
	Failed   = Outcome{"failed", 1, http.StatusInternalServerError, "the system failed: disk full, no permission"}
	Invalid  = Outcome{"invalid_input", 1, http.StatusUnprocessableEntity, "a bad change line, name, value or revision"}
	Usage    = Outcome{"usage", 2, http.StatusBadRequest, "an unknown command or flag, or flags that exclude each other"}
	NotFound = Outcome{"not_found", 3, http.StatusNotFound,
		"no such repository, revision, node, edge, session, profile or key"}
	Mismatch = Outcome{"mismatch", 4, http.StatusConflict, "a replay differs, or a signature does not hold"}
	Corrupt  = Outcome{"corrupt", 4, http.StatusInternalServerError, "stored bytes are not what was written"}
	Ranking  = Outcome{"ranking_version", 4, http.StatusConflict,
		"a receipt needs a ranking version this program lacks"}
	Redacted = Outcome{"redacted", 4, http.StatusGone, "what is asked for, or replayed, was purged"}
	Conflict = Outcome{"conflict", 5, http.StatusConflict,
		"the branch is not where the write expected it, or a merge that does not resolve itself"}
	Busy = Outcome{"busy", 6, http.StatusServiceUnavailable,
		"another process has the repository and neither answers nor lets go, or ended midway"}
	Refused = Outcome{"refused", 7, http.StatusForbidden,
		"a rule forbids it: the policy, a missing signature, a revoked key, a credential in what is to " +
			"be written, a secret open to others, a purge without --yes, a role without rights in a database"}
	Unknown    = Outcome{"unknown", 8, http.StatusOK, "with --strict: nothing of what is asked is stored"}
	Incomplete = Outcome{"incomplete", 9, http.StatusUnprocessableEntity,
		"some records could not be read or have an unknown kind; all others were stored"}
	Interrupted = Outcome{"interrupted", 130, http.StatusServiceUnavailable, "stopped by a signal"}
)

// Outcomes returns the rows of the table in the order of the docs.
func Outcomes() []Outcome {
	return []Outcome{
		OK, Failed, Invalid, Usage, NotFound, Mismatch, Corrupt, Ranking, Redacted, Conflict, Busy,
		Refused, Unknown, Incomplete, Interrupted,
	}
}

// WithCode returns the row of a code.
func WithCode(code string) (Outcome, bool) {
	for _, o := range Outcomes() {
		if o.Code == code {
			return o, true
		}
	}
	return Outcome{}, false
}

// WithExit returns what an exit code means if no error says more: the first row that has it, and
// Failed for a code that no row has.
func WithExit(code int) Outcome {
	for _, o := range Outcomes() {
		if o.Exit == code {
			return o
		}
	}
	return Failed
}

// The kinds of refusals: each tells a program what to do next. Every row of the error table but OK has one kind.
const (
	KindValidation = "validation_failed" // say it differently
	KindNotAllowed = "not_allowed"       // a rule forbids it: asking again does not help
	KindVersion    = "version_conflict"  // read the current version, then write again
	KindNotFound   = "not_found"         // name something else
	KindExec       = "exec_failed"       // it was allowed and made sense, and did not work
)

// Refusal returns the kind of an outcome, "" for OK.
func (o Outcome) Refusal() string {
	switch o {
	case OK:
		return ""
	case Usage, Invalid:
		return KindValidation
	case Refused:
		return KindNotAllowed
	case Conflict:
		return KindVersion
	case NotFound:
		return KindNotFound
	}
	return KindExec
}

package operation

import (
	"context"
)

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

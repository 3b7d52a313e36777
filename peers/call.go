package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// Call is one request for a verb.
type Call struct {
	Verb    string          `json:"verb"`
	Request json.RawMessage `json:"request"`         // see ops.Spec.EncodeRequest
	Given   []string        `json:"given,omitempty"` // the names of the fields that were given
	Words   []string        `json:"words,omitempty"` // how the operation log names it

	Caller operation.Caller `json:"caller"`
	// Human is whether people read the answers, and Progress whether they see how far it is.
	Human    bool `json:"human,omitempty"`
	Progress bool `json:"progress,omitempty"`
	// Inputs are the names of the files of change lines, which are streamed when they are read.
	Inputs []string `json:"inputs,omitempty"`

	// What the caller's configuration says: which verbs take in signed commits alone, whether it is
	// counted how often answers show nodes, and what to keep when garbage is collected after a write.
	RequireSigned string   `json:"require_signed,omitempty"`
	Accesses      bool     `json:"accesses,omitempty"`
	Collect       *Collect `json:"collect,omitempty"`
}

// Collect says what a collection after a write keeps.
type Collect struct {
	KeepOps int           `json:"keep_ops"`
	Grace   time.Duration `json:"grace"`
}

// Tidings is what the owner says while a verb runs.
type Tidings struct {
	Start string `json:"start,omitempty"` // something begins that takes its time
	What  string `json:"what,omitempty"`  // how much of something is done, of a total, 0 for an unknown one
	Done  int    `json:"done,omitempty"`
	Total int    `json:"total,omitempty"`
	Say   string `json:"say,omitempty"` // in place of what shows
	End   bool   `json:"end,omitempty"` // nothing is to show any more
	// Collected is what a collection after the write removed, or Failed why there was none.
	Collected *repo.GCResult `json:"collected,omitempty"`
	Failed    string         `json:"failed,omitempty"`
}

// question is what the owner asks of the caller: one member is given.
type question struct {
	Sign    []byte `json:"sign,omitempty"`    // the record of a commit, to be signed
	Key     bool   `json:"key,omitempty"`     // the public key that the caller signs with
	Trusted bool   `json:"trusted,omitempty"` // the caller's trust list
}

// reply answers a question.
type reply struct {
	Signature []byte          `json:"signature,omitempty"`
	Key       string          `json:"key,omitempty"` // "" for none
	Trusted   json.RawMessage `json:"trusted,omitempty"`
	Failure   *ops.Failure    `json:"failure,omitempty"`
}

// Caller is what a process does for a verb that it has another one run.
type Caller struct {
	// Sign signs the record of a commit, nil where commits are not signed. Key returns the public key
	// that the caller signs with, "" for none; Trusted its trust list.
	Sign    func(record []byte) ([]byte, error)
	Key     func() string
	Trusted func() ([]byte, error)
	Input   func(number int) (io.Reader, error)
	Tell    func(*Tidings)
	// Read reads the answers.
	Read func(io.Reader) error
}

// Ask has the owner run a verb and returns the error that it ended with. An *owner.LostError says that
// the owner ended first.
func Ask(ctx context.Context, client *owner.Client, call *Call, by Caller) error {
	request, err := json.Marshal(call)
	if err != nil {
		return fmt.Errorf("ask another process: %w", err)
	}
	var failed error // of an input or a reply: why the verb fails that needs it
	result, err := client.Ask(ctx, request, owner.Asker{
		Input: func(number int) (in io.Reader, err error) {
			if in, err = by.Input(number); err != nil {
				failed = err
			}
			return in, err
		},
		Tell: func(data []byte) {
			t := &Tidings{}
			if json.Unmarshal(data, t) == nil {
				by.Tell(t)
			}
		},
		Reply: func(data []byte) []byte {
			r, err := by.reply(data)
			if err != nil {
				failed, r.Failure = err, ops.FailureOf(ctx, err, false)
			}
			out, _ := json.Marshal(r) // it has a JSON form
			return out
		},
	}, by.Read)
	broken := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) // an answer is, and why is said
	if err != nil && (!broken || result == nil) {
		return err
	}
	var failure *ops.Failure
	if jsonErr := json.Unmarshal(result, &failure); jsonErr != nil {
		return fmt.Errorf("%w: a result: %w", owner.ErrProtocol, jsonErr)
	}
	if failure == nil && broken {
		return err
	}
	if err = failure.Err(); err != nil && failed != nil {
		err = &causedError{err, failed}
	}
	return err
}

// causedError is what an owner says of an error that it was told of.
type causedError struct{ said, cause error }

func (e *causedError) Error() string { return e.said.Error() }
func (e *causedError) Unwrap() error { return e.cause }

// reply answers a question of the owner.
func (by *Caller) reply(data []byte) (r reply, err error) {
	var q question
	err = json.Unmarshal(data, &q)
	switch {
	case err != nil:
	case q.Sign != nil && by.Sign != nil:
		r.Signature, err = by.Sign(q.Sign)
	case q.Key:
		r.Key = by.Key()
	case q.Trusted:
		r.Trusted, err = by.Trusted()
	default:
		err = errors.New("the process that asked cannot answer a question of the owner")
	}
	return r, err
}

// unknown says what to do about a verb or field that this process does not know.
func unknown(err *ops.UnknownError, pid int, build string) error {
	what, without := "the verb "+err.Verb, ""
	if err.Field != "" {
		what, without = err.Field+" of "+err.Verb, ", or leave out "+err.Field
	}
	next := fmt.Sprintf("stop process %d and start it anew, so that it is the same version%s", pid, without)
	return ops.Hint(fmt.Errorf("%w: process %d has it open, and mnem %s does not know %s",
		store.ErrBusy, pid, build, what), next, next)
}

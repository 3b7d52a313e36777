package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Call is one request for a verb.
type Call struct {
	Verb    string          `json:"verb"`
	Request json.RawMessage `json:"request"`         // see verb.Spec.EncodeRequest
	Given   []string        `json:"given,omitempty"` // the names of the fields that were given
	Words   []string        `json:"words,omitempty"` // how the operation log names it

	Caller operation.Caller `json:"caller"`
	// Human is whether people read the answers, Typed whether answers come with their types, and
	// Progress whether people see how far it is.
	Human    bool `json:"human,omitempty"`
	Typed    bool `json:"typed,omitempty"`
	Progress bool `json:"progress,omitempty"`
	// Inputs are the names of the files of change lines, or of the file that the verb reads. Their contents follow the call.
	Inputs []string `json:"inputs,omitempty"`

	// Sign is set for a run whose commits the caller signs.
	Sign *verb.Signatures `json:"sign,omitempty"`
	// Meaning is whether written nodes are embedded by the built-in model.
	Meaning bool `json:"meaning,omitempty"`
	// The caller's configuration: the verbs that accept signed commits only, and the options for collecting garbage
	// after a write.
	RequireSigned string   `json:"require_signed,omitempty"`
	Collect       *Collect `json:"collect,omitempty"`

	// Trusted is the caller's trust list, or Untrusted why it cannot be read. Key is the public key that an agent
	// signs with, "" for none.
	Trusted   json.RawMessage `json:"trusted,omitempty"`
	Untrusted *verb.Failure   `json:"untrusted,omitempty"`
	Key       string          `json:"key,omitempty"`
	// Root is the directory that holds the repository, and Dir the one that the caller works in: paths of
	// directories that a request names begin there.
	Root string `json:"root,omitempty"`
	Dir  string `json:"dir,omitempty"`
}

// Collect holds the options of a collection after a write.
type Collect struct {
	KeepOps int           `json:"keep_ops"`
	Grace   time.Duration `json:"grace"`
}

// ProgressMessage is a progress message that the owner sends while a verb runs.
type ProgressMessage struct {
	Start string `json:"start,omitempty"` // something begins that takes its time
	What  string `json:"what,omitempty"`  // how much of something is done, of a total, 0 for an unknown one
	Done  int    `json:"done,omitempty"`
	Total int    `json:"total,omitempty"`
	Say   string `json:"say,omitempty"` // replaces the shown text
	End   bool   `json:"end,omitempty"` // nothing is to show any more
	// Collected reports a collection after the write; Remark is any other message.
	Collected *core.GCResult `json:"collected,omitempty"`
	Remark    string         `json:"remark,omitempty"`
}

// Caller holds the callbacks of a process for a verb that another process runs for it.
type Caller struct {
	// Input opens one of the files of the call.
	Input func(number int) (io.Reader, error)
	// Output is the file that the verb writes.
	Output io.Writer
	Tell   func(*ProgressMessage)
	// Read reads the answers.
	Read func(io.Reader) error
}

// Ask has the owner run a verb and returns the error that it ended with. An *owner.LostError says that
// the owner ended first.
func Ask(ctx context.Context, client *owner.Client, call *Call, by *Caller) error {
	request, err := json.Marshal(call)
	if err != nil {
		return fmt.Errorf("ask another process: %w", err)
	}
	asker := owner.Asker{File: by.Output, Tell: func(data []byte) {
		t := &ProgressMessage{}
		if json.Unmarshal(data, t) == nil {
			by.Tell(t)
		}
	}}
	for i := range call.Inputs {
		in, err := by.Input(i)
		if err != nil {
			return err
		}
		asker.Inputs = append(asker.Inputs, in)
	}
	result, err := client.Ask(ctx, request, asker, by.Read)
	broken := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) // an answer is, and why is said
	if err != nil && (!broken || result == nil) {
		return err
	}
	var failure *verb.Failure
	if jsonErr := json.Unmarshal(result, &failure); jsonErr != nil {
		return fmt.Errorf("%w: a result: %w", owner.ErrProtocol, jsonErr)
	}
	if failure == nil && broken {
		return err
	}
	return failure.Err()
}

// unknown says what to do about a verb or field that this process does not know.
func unknown(err *verb.UnknownError, pid int, build string) error {
	what, without := "the verb "+err.Verb, ""
	if err.Field != "" {
		what, without = err.Field+" of "+err.Verb, ", or leave out "+err.Field
	}
	next := fmt.Sprintf("stop process %d and restart it, so that it is the same version%s", pid, without)
	return verb.Hint(fmt.Errorf("%w: process %d has it open, and mnem %s does not know %s",
		store.ErrBusy, pid, build, what), next, next)
}

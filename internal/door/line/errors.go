package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Usagef returns the error of a command line that makes no sense.
func Usagef(format string, args ...any) error { return verb.Usagef(format, args...) }

// Hint adds the next step to an error of the command line.
func Hint(err error, format string, args ...any) error {
	return verb.Hintf(err, format, args...)
}

// Already returns the error of something that is there already.
func Already(err error, format string, args ...any) error {
	return branching.Already(err, format, args...)
}

// NoRepoError says where no repository was found.
type NoRepoError struct {
	Dir string
	Err error
}

func (e NoRepoError) Error() string { return "no repository in " + e.Dir + " or above it" }
func (e NoRepoError) Unwrap() error { return e.Err }

// lockHint says what to do about a repository that may not be written, or not even its lock file.
func lockHint(err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	if filepath.Base(at.Path) != lockFile {
		return Hint(err, "writing needs write permission to %s and what is in it; reading and --dry-run do not",
			filepath.Dir(at.Path))
	}
	return Hint(err, "reading needs read permission to %s, writing write permission too", at.Path)
}

// lockFile is the name of the lock file in a repository's db directory.
const lockFile = "LOCK"

// OutcomeOf maps an error to its row of the error table: by package verb, and of what only this surface meets here.
func OutcomeOf(ctx context.Context, err error) operation.Outcome {
	row := verb.OutcomeOf(ctx, err)
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	switch {
	case row != operation.Failed && row != operation.Invalid && row != operation.NotFound:
		return row
	case is(filestate.ErrLocked):
		return operation.Busy
	case is(errForeign, keyring.ErrExposed, ErrRevoked, ErrOpenToAll):
		return operation.Refused
	case is(filestate.ErrMoved):
		return operation.Conflict
	case is(filestate.ErrUnfit) && row == operation.Failed:
		return operation.Invalid
	}
	return row
}

// HintOf returns the next step after an error, "" for none.
func HintOf(err error, remote bool) string {
	next := verb.HintOf(err, remote)
	if next == "" && errors.Is(err, filestate.ErrLocked) {
		return "try again; stop the process that has it if it never ends"
	}
	return next
}

type errorJSON struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Kind    string `json:"kind"` // see operation.Outcome

		Candidates []operation.Candidate `json:"candidates,omitempty"` // see operation.Error
	} `json:"error"`
}

// Report writes an error to the error stream and returns its exit code. The message is one line,
// whatever names are in it.
func (c *Line) Report(ctx context.Context, err error) int {
	row := OutcomeOf(ctx, err)
	next := HintOf(err, false)
	message := verb.MessageOf(err, false)
	if row == operation.Interrupted {
		message = "interrupted"
	}
	if c.InJSON {
		var body errorJSON
		body.Error.Code, body.Error.Message, body.Error.Hint = row.Code, message, next
		body.Error.Kind, body.Error.Candidates = row.Refusal(), verb.CandidatesOf(err)
		var b bytes.Buffer
		_ = verb.WriteJSON(&b, body) // strings always have a JSON form
		_, _ = c.App.Stderr.Write(b.Bytes())
		return row.Exit
	}
	fmt.Fprintf(c.App.Stderr, "%s: %s\n", FirstOf(c.Program, "mnem"), OneLine(message))
	for _, may := range verb.CandidatesOf(err) {
		fmt.Fprintf(c.App.Stderr, "  %s  %s\n", may.ID, OneLine(may.Title))
	}
	if next != "" {
		fmt.Fprintf(c.App.Stderr, "hint: %s\n", OneLine(next))
	}
	return row.Exit
}

// ErrOpenToAll is returned by a server that others could use without a token.
var ErrOpenToAll = errors.New("without a token anybody who reaches this address could use the memory")
